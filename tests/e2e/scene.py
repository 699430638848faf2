"""One test's repository with its script, its issue and its run, and what a person sees of them on GitHub."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from handlers.ports import LogRecord, RunFacts
from infra.llm.faults import Faults
from infra.llm.script import Script
from infra.llm.scripted import ScriptedModel
from infra.local_github.git_objects import NewCommit, Person, write_blob, write_commit, write_tree
from tests.e2e.house import OWNER, ROLES, House
from tests.e2e.plays import FILES, play

PATIENCE_S = 40.0
QUALITY = "seconder/quality"
TITLE, BODY = "add subtracts", "2 + 3 gives -1."
Row = Mapping[str, Any]
T = TypeVar("T")


@dataclass(frozen=True)
class Commit:
    """A commit that a test makes by itself: the branch's content on top of what is there."""

    branch: str
    files: Mapping[str, str]
    message: str = "By hand"


@dataclass
class Scene:
    """A repository in the house. `model.seen` are the requests of this test's agents."""

    house: House
    repo: str
    model: ScriptedModel
    faults: Faults
    number: int = 0
    run: str = ""
    patience_s: float = PATIENCE_S
    pause_s: float = 0.04

    @classmethod
    async def open(
        cls,
        house: House,
        case: str,
        script: Script | None = None,
        files: Mapping[str, str] = FILES,
        default_branch: str = "main",
    ) -> Scene:
        """Make the repository `acme/<case>` and install the App on it. Without files it stays empty."""
        world, repo = house.github.world, f"{OWNER}/{case}"
        model, faults = house.troupe.play(case, script or play())
        made = await world.add_repo(repo)
        for login, role in ROLES.items():
            world.collaborate(repo, login, role)  # type: ignore[arg-type]
        made.default_branch = default_branch
        scene = cls(house, repo, model, faults)
        if files:
            await scene.commit(Commit(default_branch, {**files, f"case-{case}.txt": "A test's own name.\n"}))
        world.install("seconder", [repo])
        return scene

    # -- people -----------------------------------------------------------------------------------------------

    async def ask(self, login: str, method: str, path: str, body: Row | None = None) -> Any:
        """One REST call as a person, below the repository. Raises AssertionError when GitHub refuses it."""
        answer = await self.house.people[login].request(method, f"/repos/{self.repo}{path}", json=body)
        assert answer.status_code < 300, f"{method} {path} as {login}: {answer.status_code} {answer.text[:300]}"
        return answer.json() if answer.content else None

    async def file(self, title: str = TITLE, body: str | None = BODY, by: str = "requester") -> int:
        """File an issue."""
        self.number = (await self.ask(by, "POST", "/issues", {"title": title, "body": body}))["number"]
        return self.number

    async def begin(self, title: str = TITLE, body: str | None = BODY) -> str:
        """File an issue and wait until its run has begun; returns the run's id."""
        await self.file(title, body)
        return await self.begun()

    async def begun(self) -> str:
        """Wait for a run of the issue that is newer than the one we know."""

        async def newer() -> str | None:
            repo = self.house.github.world.repo(self.repo)
            assert repo is not None
            key = self.house.hub.scripts.key("issue", f"{repo.id}:{self.number}")
            found = await self.house.hub.scripts.command("GET", key)
            run = found.decode() if found else ""
            return run if run and run != self.run else None

        self.run = await self.eventually(newer, "a run")
        return self.run

    async def say(self, login: str, text: str, number: int | None = None) -> Row:
        """Comment, on the issue unless told otherwise."""
        row: Row = await self.ask(login, "POST", f"/issues/{number or self.number}/comments", {"body": text})
        return row

    async def review(self, login: str, event: str, body: str = "") -> None:
        """Review the pull request: APPROVE, REQUEST_CHANGES or COMMENT."""
        pull = await self.pull()
        await self.ask(login, "POST", f"/pulls/{pull['number']}/reviews", {"event": event, "body": body})

    async def commit(self, commit: Commit, parent: str | None = None, branch_is_new: bool = False) -> str:
        """Put a commit on a branch, as a push from a person's machine would, but without a webhook; returns its id."""
        world = self.house.github.world
        repo = world.repo(self.repo)
        assert repo is not None
        now = world.now()
        person = Person("Somebody", "somebody@example.org", now)
        blobs = [
            (path, "100644", await write_blob(world.git, repo.id, text.encode())) for path, text in commit.files.items()
        ]
        tree = await write_tree(world.git, repo.id, parent, blobs)
        parents = [parent] if parent else []
        sha = await write_commit(world.git, repo.id, NewCommit(tree, parents, person, person, commit.message))
        before = parent if parent and not branch_is_new else "0" * 40
        await world.git.set_ref(repo.id, f"refs/heads/{commit.branch}", sha, before)
        return sha

    # -- what is seen -----------------------------------------------------------------------------------------

    async def comments(self, number: int | None = None) -> list[Row]:
        """All comments of the issue, or of another thread."""
        rows: list[Row] = await self.ask("maintainer", "GET", f"/issues/{number or self.number}/comments?per_page=100")
        return rows

    async def ours(self, number: int | None = None) -> list[str]:
        """The texts that Seconder commented."""
        return [row["body"] for row in await self.comments(number) if row["user"]["login"] == "seconder[bot]"]

    async def statuses(self) -> list[str]:
        """The status comments; a sound run has one."""
        return [text for text in await self.ours() if text.startswith("<!-- seconder:status")]

    async def status(self) -> str:
        """The status comment."""
        [text] = await self.statuses()
        return text

    async def replies(self, number: int | None = None) -> list[str]:
        """What Seconder commented besides the status."""
        return [text for text in await self.ours(number) if not text.startswith("<!-- seconder:status")]

    async def pulls(self) -> list[Row]:
        """All pull requests of Seconder's, oldest first."""
        rows = await self.ask("maintainer", "GET", "/pulls?state=all&sort=created&direction=asc")
        return [row for row in rows if row["user"]["login"] == "seconder[bot]"]

    async def pull(self) -> Row:
        """The one pull request of Seconder's, whole."""
        [listed] = await self.pulls()
        row: Row = await self.ask("maintainer", "GET", f"/pulls/{listed['number']}")
        return row

    async def checks(self, sha: str) -> list[Row]:
        """Our check runs on a commit."""
        rows = (await self.ask("maintainer", "GET", f"/commits/{sha}/check-runs"))["check_runs"]
        return [row for row in rows if row["name"] == QUALITY]

    async def conclusion(self) -> str | None:
        """What our one check says on the pull request's present head; None when it is not there."""
        found = await self.checks((await self.pull())["head"]["sha"])
        assert len(found) <= 1, found
        return str(found[0]["conclusion"]) if found else None

    async def text_of(self, path: str, ref: str) -> str:
        """A file's text at a commit or branch."""
        headers = {"Accept": "application/vnd.github.raw+json"}
        answer = await self.house.people["maintainer"].get(
            f"/repos/{self.repo}/contents/{path}?ref={ref}", headers=headers
        )
        assert answer.status_code == 200, answer.text
        return answer.text

    # -- the run ----------------------------------------------------------------------------------------------

    async def log(self) -> Sequence[LogRecord]:
        """The run's log."""
        return await self.house.hub.runs.read(self.run, 0)

    async def facts(self) -> RunFacts:
        """The run's facts."""
        facts = await self.house.hub.runs.facts(self.run)
        assert facts is not None
        return facts

    async def names(self) -> list[str]:
        """The names of the run's events, in order."""
        return [str(record.data["name"]) for record in await self.log() if record.type == "event"]

    async def position(self) -> int:
        """The log's present end, to wait for something that comes after it."""
        return (await self.facts()).length

    async def event(self, name: str, after: int = 0, **data: object) -> Row:
        """Wait for an event of the run whose data holds these; returns its data."""

        async def found() -> Row | None:
            for record in await self.house.hub.runs.read(self.run, after):
                said = record.data.get("data")
                if record.type != "event" or record.data["name"] != name or not isinstance(said, Mapping):
                    continue
                if all(said.get(key) == value for key, value in data.items()):
                    return said or {"": ""}
            return None

        return await self.eventually(found, f"{name} {data or ''}")

    async def ended(self, status: str) -> None:
        """Wait for the run's end, which has to be this one, and for the status comment to be done with it."""

        async def over() -> bool:
            facts = await self.facts()
            assert facts.status in ("open", "cancelling", status), f"the run has ended as {facts.status}"
            step = await self.house.hub.scripts.command(
                "HGET", self.house.hub.scripts.key("task", f"{self.run}/status.1"), "state"
            )
            return facts.status == status and step == b"done"

        await self.eventually(over, status)

    async def shows(self, words: str) -> str:
        """Wait until the status comment holds these words."""

        async def there() -> str | None:
            found = await self.statuses()
            return found[0] if found and words in found[0] else None

        return await self.eventually(there, f"{words!r} in the status comment")

    async def replied(self, words: str, number: int | None = None) -> str:
        """Wait for an answer that holds these words."""

        async def there() -> str | None:
            return next((text for text in await self.replies(number) if words in text), None)

        return await self.eventually(there, f"an answer with {words!r}")

    async def eventually(self, look: Callable[[], Awaitable[T | None]], what: str) -> T:
        """Look until something true is seen; else fail with the end of the log."""
        until = time.monotonic() + self.patience_s
        while time.monotonic() < until:
            if found := await look():
                return found
            await asyncio.sleep(self.pause_s)
        raise AssertionError(f"never came: {what}\n{await self._tail()}")

    async def _tail(self) -> str:
        records = (await self.log())[-25:] if self.run else []
        lines = [f"{record.position} {record.type} {str(dict(record.data))[:200]}" for record in records]
        seen = await self.ours() if self.number else []
        return "\n".join([*lines, *seen])

    async def to_quality(self) -> Row:
        """File the usual issue and wait until people are asked; returns the pull request."""
        await self.begin()
        await self.event("gate_opened", gate="quality")
        return await self.pull()

    async def to_merge(self) -> Row:
        """As `to_quality`, and the maintainer has approved."""
        pull = await self.to_quality()
        await self.review("maintainer", "APPROVE")
        await self.event("gate_opened", gate="merge")
        return pull


def processes_with(word: str) -> list[str]:
    """Command lines of this machine's processes that hold `word`."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue
        if word in line:
            found.append(line)
    return found
