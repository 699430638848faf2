"""The branch's rules and the code owners of what a pull request changes, as facts for the quality gate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gates.codeowners import LOCATIONS, Codeowners, Need, Owner, parse
from gates.evidence import OwnerGroup
from handlers.events import RepoRef
from handlers.ports import MOST_FILES, BranchRules, Rules, Standing


@dataclass(frozen=True)
class Ownership:
    """Who owns what is changed, one group per line of CODEOWNERS; `unknown` says why that cannot be told."""

    groups: tuple[OwnerGroup, ...] = ()
    unknown: str | None = None


@dataclass(frozen=True)
class Change:
    """A pull request whose owners are asked for: its number and the branch that it goes into."""

    repo: RepoRef
    number: int
    base: str


async def required(port: Rules, change: Change, rules: BranchRules, writers: Sequence[Standing]) -> Ownership:
    """The owners whose approval the branch's rules ask for; none where they ask for none. Raises `GitHubError`."""
    return await owners_of(port, change, writers) if rules.code_owners else Ownership()


async def owners_of(port: Rules, change: Change, writers: Sequence[Standing]) -> Ownership:
    """The code owners of a pull request's files, by the base branch's CODEOWNERS. Raises `GitHubError`."""
    codeowners = await _codeowners(port, change)
    if codeowners is None:
        return Ownership()
    if codeowners.too_large:
        return Ownership(unknown=f"CODEOWNERS on {change.base} cannot be used: {codeowners.problems[0].why}")
    files = await port.changed(change.repo, change.number)
    if len(files) >= MOST_FILES:
        return Ownership(
            unknown=f"it changes {MOST_FILES:,} files or more, and GitHub does not list the rest: whose they are "
            "cannot be told. Split the change, or merge it by hand"
        )
    paths = [name for file in files for name in (file.path, file.previous) if name is not None]
    able = {one.user.login.casefold(): one.user.id for one in writers if one.user.type == "User"}
    teams = _Teams(port, change.repo, frozenset(able.values()))
    return Ownership(tuple([await _group(need, able, teams) for need in codeowners.needs(paths)]))


async def _codeowners(port: Rules, change: Change) -> Codeowners | None:
    for path in LOCATIONS:
        content = await port.file(change.repo, change.base, path)
        if content is not None:
            return parse(content)
    return None


class _Teams:
    """Teams, each looked up once: the ids of its members who have write, where the team has it itself."""

    def __init__(self, port: Rules, repo: RepoRef, able: frozenset[int]) -> None:
        self._port, self._repo, self._able = port, repo, able
        self._known: dict[str, frozenset[int]] = {}

    async def people(self, owner: Owner) -> frozenset[int]:
        if owner.key not in self._known:
            organisation, _, slug = owner.text.removeprefix("@").partition("/")
            found = await self._port.team(self._repo, organisation, slug)
            self._known[owner.key] = frozenset(one.id for one in found or ()) & self._able
        return self._known[owner.key]


async def _group(need: Need, able: dict[str, int], teams: _Teams) -> OwnerGroup:
    """A line's people. An address cannot be matched with an account, so that it stands for nobody here."""
    people: set[int] = set()
    for owner in need.rule.owners:
        if owner.kind == "team":
            people |= await teams.people(owner)
        elif owner.kind == "user" and (found := able.get(owner.key.removeprefix("@"))) is not None:
            people.add(found)
    owners = tuple(owner.text for owner in need.rule.owners)
    return OwnerGroup(line=need.rule.line, paths=need.paths, owners=owners, people=frozenset(people))
