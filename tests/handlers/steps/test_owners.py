"""The branch's rules and code owners as evidence: who has to approve what the pull request changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from gates.codeowners import LOCATIONS, SIZE_LIMIT
from gates.evidence import OwnerGroup
from handlers.events import Actor, RepoRef
from handlers.ports import MOST_FILES, BranchRules, ChangedFile, Standing
from handlers.steps.mark_ready import MOST_OWNERS, whom_to_ask
from handlers.steps.owners import Change, owners_of, required

ANN, BEN, CAT, GUEST, APP = (
    Actor(id=number, login=login, type="Bot" if login == "app" else "User")
    for number, login in enumerate(("ann", "Ben", "cat", "guest", "app"), 1)
)
WRITERS = [Standing(who, "write") for who in (ANN, BEN, CAT, APP)]
CHANGE = Change(RepoRef(id=1, full_name="octo/app", installation=2), 7, "release")
RULES = BranchRules(code_owners=True)


@dataclass
class Listed:
    """A branch and a pull request as `handlers.ports.Rules`; `asked` lists the verbs."""

    files: dict[str, bytes]
    changes: Sequence[ChangedFile] = (ChangedFile("a.py"),)
    teams: dict[str, Sequence[Actor]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    async def of_branch(self, repo: RepoRef, branch: str) -> BranchRules:
        return RULES

    async def changed(self, repo: RepoRef, number: int) -> Sequence[ChangedFile]:
        self.asked.append(f"changed {number}")
        return self.changes

    async def file(self, repo: RepoRef, ref: str, path: str) -> bytes | None:
        self.asked.append(f"file {ref} {path}")
        return self.files.get(path)

    async def team(self, repo: RepoRef, organisation: str, slug: str) -> Sequence[Actor] | None:
        self.asked.append(f"team {organisation}/{slug}")
        return self.teams.get(f"{organisation}/{slug}")


def owned(text: str, *changes: ChangedFile, **teams: Sequence[Actor]) -> Listed:
    named = {name.replace("__", "/"): members for name, members in teams.items()}
    return Listed({"CODEOWNERS": text.encode()}, changes or (ChangedFile("a.py"),), named)


@pytest.mark.parametrize(
    ("port", "people"),
    [
        pytest.param(owned("* @ann"), [{1}], id="a person"),
        pytest.param(owned("* @BEN"), [{2}], id="in any case"),
        pytest.param(owned("* @ann @ben"), [{1, 2}], id="any of two"),
        pytest.param(owned("* @guest"), [set()], id="a reader cannot"),
        pytest.param(owned("* @nobody"), [set()], id="an unknown name"),
        pytest.param(owned("* @app"), [set()], id="an App is no person"),
        pytest.param(owned("* ann@example.com"), [set()], id="an address is nobody that we know"),
        pytest.param(owned("* ann@example.com @ben"), [{2}], id="an address beside a name"),
        pytest.param(owned("* @octo/docs", octo__docs=[BEN, GUEST]), [{2}], id="a team's members with write"),
        pytest.param(owned("* @octo/gone"), [set()], id="a team without write, or none"),
        pytest.param(owned("*.md @ann"), [], id="nobody owns it"),
        pytest.param(owned("* @ann\na.py"), [], id="taken out by a later line"),
        pytest.param(owned("* @ann\n!a.py @ben"), [{1}], id="a line that is left out"),
        pytest.param(
            owned("/new/ @ben\n/old/ @ann", ChangedFile("new/a", "old/a")), [{2}, {1}], id="both names of a rename"
        ),
        pytest.param(owned("* @ann", ChangedFile("CODEOWNERS")), [{1}], id="the base's file judges its own change"),
        pytest.param(Listed({}), [], id="no file"),
    ],
)
async def test_groups(port: Listed, people: list[set[int]]) -> None:
    found = await owners_of(port, CHANGE, WRITERS)
    assert found.unknown is None
    assert [set(group.people) for group in found.groups] == people


async def test_the_first_location_is_read_on_the_base_branch() -> None:
    port = Listed({LOCATIONS[1]: b"* @ann", LOCATIONS[2]: b"* @ben"})
    (group,) = (await owners_of(port, CHANGE, WRITERS)).groups
    assert (group.line, group.paths, group.owners) == (1, ("a.py",), ("@ann",))
    assert port.asked == [f"file release {LOCATIONS[0]}", f"file release {LOCATIONS[1]}", "changed 7"]


async def test_a_team_is_looked_up_once() -> None:
    port = owned("/a @octo/docs\n/b @Octo/Docs", ChangedFile("a"), ChangedFile("b"), octo__docs=[BEN])
    assert [group.people for group in (await owners_of(port, CHANGE, WRITERS)).groups] == [frozenset({2})] * 2
    assert [verb for verb in port.asked if verb.startswith("team")] == ["team octo/docs"]


@pytest.mark.parametrize(
    ("port", "why"),
    [
        pytest.param(
            owned("* @ann", *(ChangedFile(f"f{n}") for n in range(MOST_FILES))), "3,000 files", id="too many files"
        ),
        pytest.param(Listed({"CODEOWNERS": b"#" * SIZE_LIMIT}), "3 MB", id="the file is too large"),
    ],
)
async def test_what_cannot_be_told_is_said(port: Listed, why: str) -> None:
    found = await owners_of(port, CHANGE, WRITERS)
    assert found.groups == ()
    assert why in str(found.unknown)


async def test_without_the_rule_nobody_is_looked_for() -> None:
    port = owned("* @ann")
    assert (await required(port, CHANGE, BranchRules(approvals=3), WRITERS)).groups == ()
    assert port.asked == []
    assert len((await required(port, CHANGE, RULES, WRITERS)).groups) == 1


# --- Whom to ask


def group(*people: int) -> OwnerGroup:
    return OwnerGroup(line=1, paths=("a",), owners=("@x",), people=frozenset(people))


MANY = [Standing(Actor(id=n, login=f"w{n:02}"), "write") for n in range(1, 40)]


@pytest.mark.parametrize(
    ("writers", "groups", "asked"),
    [
        pytest.param(WRITERS, (), ["ann", "Ben"], id="anybody but the requester and Apps"),
        pytest.param(MANY[:9], (), ["w01", "w02", "w04"], id="no more than three"),
        pytest.param(MANY[:9], (group(8),), ["w01", "w02", "w08"], id="an owner first"),
        pytest.param(MANY[:9], (group(7, 8), group(8, 9)), ["w07", "w08", "w09"], id="owners before others"),
        pytest.param(MANY[:9], tuple(group(n) for n in range(4, 9)), [f"w0{n}" for n in range(4, 9)], id="five owners"),
        pytest.param(MANY[:9], (group(3),), ["w01", "w02", "w04"], id="the requester's own group"),
        pytest.param(MANY[:9], (group(),), ["w01", "w02", "w04"], id="a group of nobody"),
        pytest.param([], (group(1),), [], id="nobody has write"),
    ],
)
def test_whom_to_ask(writers: Sequence[Standing], groups: Sequence[OwnerGroup], asked: list[str]) -> None:
    assert whom_to_ask(writers, 3, groups) == asked


def test_not_more_than_github_takes() -> None:
    assert len(whom_to_ask(MANY, 3, [group(n) for n in range(1, 40)])) == MOST_OWNERS
