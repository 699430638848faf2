"""Runs and their logs in the store: `handlers.ports.RunLog` and `handlers.ports.Events`."""

from __future__ import annotations

import asyncio
import json
import secrets
import zlib
from collections.abc import AsyncIterator, Mapping, Sequence

from handlers.events import Actor, Event, RepoRef
from handlers.ports import LogRecord, LogUnreadable, NewRun, RecordType, RunFacts, Word
from infra.store.blobs import RedisBlobs
from infra.store.connection import Scripts, fields, text
from infra.store.packing import unpack
from infra.store.records import seal, seal_entry, seal_event

PAGE = 500


class RedisRunLog:
    """One hash and one stream per run; the stream's ids are the log's positions."""

    def __init__(self, scripts: Scripts, blobs: RedisBlobs) -> None:
        self._scripts = scripts
        self._client = scripts.client
        self._blobs = blobs

    async def start(self, new: NewRun) -> str | None:
        """Start a run; None when the issue has an open one or `cause` started one before."""
        meta = {
            "repo": new.repo.model_dump(),
            "requester": new.requester.model_dump(),
            "base_sha": new.base_sha,
            "default_branch": new.default_branch,
            "workflow": new.workflow,
            "delimiter": secrets.token_hex(8),
        }
        entries = [await seal_entry(entry, self._blobs) for entry in new.entries]
        while True:
            attempts = await self._scripts.command("HGET", self._scripts.key("attempts", new.repo.id), new.issue)
            attempt = int(attempts or 0) + 1
            run = f"{new.repo.id}-{new.issue}-{attempt}"
            event = Event(
                id=f"{run}:started",
                name="run_started",
                run=run,
                cause=new.cause,
                data={"issue": new.issue, "repo": new.repo.full_name, "attempt": attempt},
            )
            answer = await self._scripts.run(
                "start",
                run,
                new.repo.id,
                new.issue,
                attempt,
                new.cause,
                seal("run", meta),
                new.budget,
                seal_event(event),
                *entries,
            )
            if int(answer) != -1:
                return run if int(answer) == 1 else None

    async def facts(self, run: str) -> RunFacts | None:
        """The run's small facts, or None when there is no such run. Raises `LogUnreadable`."""
        stored = fields(await self._scripts.command("HGETALL", self._scripts.key("run", run)))
        try:
            return _facts(run, stored) if stored else None
        except (KeyError, ValueError, TypeError) as error:
            raise LogUnreadable(run, 0, f"its facts: {type(error).__name__} {error}"[:500]) from error

    async def later(self, run: str, ms: int, length: int | None = None) -> None:
        """Decide about the run again in `ms`, if its log is still `length` long (None: however long it is)."""
        await self._scripts.run("later", run, ms, "" if length is None else length)

    async def read(self, run: str, after: int) -> Sequence[LogRecord]:
        """The records behind position `after`, oldest first and without a gap. Raises `LogUnreadable`."""
        records: list[LogRecord] = []
        while True:
            page = await self._client.xrange(self._scripts.key("log", run), min=f"({after}-0", max="+", count=PAGE)
            for row, values in page:
                position = int(text(row).partition("-")[0])
                if position != after + 1:
                    raise LogUnreadable(run, after + 1, f"it is missing; the next one is {position}")
                records.append(await self._record(run, position, values))
                after = position
            if len(page) < PAGE:
                return records

    async def _record(self, run: str, position: int, values: dict[bytes, bytes]) -> LogRecord:
        try:
            kind: RecordType = text(values[b"t"])  # type: ignore[assignment]
            return LogRecord(
                position=position,
                type=kind,
                data=await unpack(values[b"d"], self._blobs),
                at=int(values[b"at"]),
                v=int(values[b"v"]),
                chain=text(values[b"h"]),
                erased=b"c" in values,
            )
        except (KeyError, ValueError, zlib.error) as error:
            raise LogUnreadable(run, position, str(error).strip("'\"") or type(error).__name__) from error

    async def vote(self, run: str, word: Word) -> bool:
        """Append what was said and wake what waits; False when it was known or the run is not open."""
        entries = [await seal_entry(entry, self._blobs) for entry in word.entries]
        events = [seal_event(event) for event in word.events]
        halt = seal("note", {"cancel": word.halt, "cause": word.cause}) if word.halt else ""
        answer = await self._scripts.run(
            "vote",
            run,
            word.cause,
            word.budget,
            word.ceiling,
            halt,
            len(word.steers),
            len(entries),
            *word.steers,
            *entries,
            *events,
        )
        return int(answer) == 1

    async def find(self, repo: RepoRef, issue: int | None = None, pull: int | None = None) -> str | None:
        """The newest run of an issue, or the run of a pull request; None when there is none."""
        for kind, number in (("pull", pull), ("issue", issue)):
            if number is not None:
                found = await self._client.get(self._scripts.key(kind, repo.id, number))
                if found is not None:
                    return text(found)
        return None

    async def cancel(self, run: str, cause: str, reason: str) -> bool:
        """Fence every open step and make the closing step due; False when the run is not open."""
        record = seal("note", {"cancel": reason, "cause": cause})
        return int(await self._scripts.run("cancel", run, record)) == 1

    async def recent(self, limit: int) -> Sequence[str]:
        """Ids of the newest runs, newest first."""
        found = await self._client.zrange(self._scripts.key("runs"), 0, limit - 1, desc=True)
        return [text(run) for run in found]

    async def follow(self, run: str, after: int) -> AsyncIterator[LogRecord]:
        """The run's log from behind `after`, for ever: what is stored, then what comes."""
        key = self._scripts.key("log", run)
        while True:
            answer = await self._client.xread({key: f"{after}-0"}, count=PAGE, block=2000)
            for row, values in answer[0][1] if answer else []:
                after = int(text(row).partition("-")[0])
                record = await self._record(run, after, values)
                yield record
            await asyncio.sleep(0)


def _facts(run: str, stored: Mapping[str, str]) -> RunFacts:
    meta = json.loads(stored["meta"])
    return RunFacts(
        id=run,
        repo=RepoRef.model_validate(json.loads(stored["repo"]) if "repo" in stored else meta["repo"]),
        issue=int(stored["issue"]),
        attempt=int(stored["attempt"]),
        status=stored["status"],
        requester=Actor.model_validate(meta["requester"]),
        base_sha=meta["base_sha"],
        default_branch=meta["default_branch"],
        workflow=meta["workflow"],
        delimiter=meta["delimiter"],
        budget=int(stored["budget"]),
        spent=int(stored["spent"]),
        reserved=int(stored["reserved"]),
        unconfirmed=int(stored["unconfirmed"]),
        length=int(stored["length"]),
        started_at=int(stored["started_at"]),
        pull=int(stored["pull"]) if "pull" in stored else None,
        branch=stored.get("branch"),
        ended_at=int(stored["ended_at"]) if "ended_at" in stored else None,
        after=int(stored["after"]) if "after" in stored else None,
    )
