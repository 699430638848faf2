"""Whether code owners have approved (GitHub Docs, "About code owners"). The local GitHub reads the file by itself, as
GitHub does: it must not believe the reading of the App that it is a test bed for."""

from __future__ import annotations

import re
from collections.abc import Iterator

from infra.local_github.git_objects import diff, entry_at
from infra.local_github.records import Pull, Repo
from infra.local_github.world import World

_PLACES = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")
_LIMIT = 3 * 2**20
_OWNER = re.compile(r"@[\w-]+(?:/[\w.-]+)?|[^@\s/]+@[^@\s/]+\.[^@\s/]+")


async def owners_missing(world: World, repo: Repo, pull: Pull, approved: set[int]) -> list[str]:
    """The changed paths that none of their owners is among `approved` for; owners without write own nothing."""
    rules = [*_rules(await _text(world, repo, pull.base_sha))]
    missing = []
    for change in await diff(world.git, repo.id, pull.merge_base, pull.head_sha):
        for path in filter(None, (change.path, change.previous)):
            names = next((names for pattern, names in reversed(rules) if pattern.fullmatch(path)), [])
            people = {user for name in names for user in _people(world, repo, name)}
            if people and not people & approved:
                missing.append(path)
    return missing


async def _text(world: World, repo: Repo, commit: str) -> str:
    for place in _PLACES:
        entry = await entry_at(world.git, repo.id, commit, place)
        if entry is not None and entry.kind == "blob":
            content = await world.git.git(repo.id, "cat-file", "blob", entry.sha)
            return content.decode("utf-8", "replace") if len(content) < _LIMIT else ""
    return ""


def _people(world: World, repo: Repo, name: str) -> set[int]:
    organisation, slash, slug = name.removeprefix("@").partition("/")
    if slash:
        team = world.team(organisation, slug)
        may = team is not None and team.roles.get(repo.id) in ("write", "maintain", "admin")
        users = [world.state.users[user] for user in team.members] if team and may else []
    else:
        users = [user for user in (world.user(organisation),) if user is not None]
    return {user.id for user in users if world.can_write(repo, user)}


def _rules(text: str) -> Iterator[tuple[re.Pattern[str], list[str]]]:
    for line in text.split("\n"):
        words = re.findall(r"(?:\\.|\S)+", line)
        end = next((at for at, word in enumerate(words) if word.startswith("#")), len(words))
        pattern, names = words[0] if end else "", words[1:end]
        bad = not pattern or pattern.startswith(("!", "\\#")) or set("[]") & set(pattern)
        if not bad and all(_OWNER.fullmatch(name) for name in names):
            yield _compiled(pattern), names


def _compiled(pattern: str) -> re.Pattern[str]:
    """gitignore's language as a regular expression over whole paths."""
    anchored = "/" in pattern.rstrip("/") or pattern in ("/", "/*")
    body = re.sub(r"\*\*(/\*\*)+$", "**", pattern.strip("/"))
    tail = "/.+" if pattern.endswith("/") else "" if re.search(r"(^|/)\*$", body) else "(/.+)?"
    if body == "**" or body.endswith("/**"):
        body, tail = body.removesuffix("**").rstrip("/"), "/.+" if body != "**" else ".+"
    out = "" if anchored else "(?:.+/)?"
    for token in re.findall(r"(?:^|(?<=/))\*\*/|\\.|\*+|\?|.", body):
        wild = {"**/": "(?:.+/)?", "?": "[^/]"}.get(token)
        out += wild or ("[^/]*" if token[0] == "*" else re.escape(token[-1]))
    return re.compile(out + tail)
