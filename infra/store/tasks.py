"""Steps in the store: made due, claimed, their turns stored, their effects booked, committed."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence

from agents.ports import Fenced
from handlers.events import Event
from handlers.ports import UNBOUNDED, Attempted, Bounds, Commit, Lease, Ledger, Loss, NewTask, StoredTurn
from infra.store.blobs import RedisBlobs
from infra.store.connection import Scripts, fields, text
from infra.store.packing import pack, unpack
from infra.store.records import seal, seal_entry, seal_event
from infra.store.renewer import Renewer


class RedisTasks:
    """`handlers.ports.Tasks`. Every verb is one script, safe to repeat after a lost answer."""

    def __init__(self, scripts: Scripts, blobs: RedisBlobs, renewer: Renewer) -> None:
        self._scripts = scripts
        self._blobs = blobs
        self._renewer = renewer

    async def activate(self, run: str, length: int, tasks: Sequence[NewTask], events: Sequence[Event]) -> bool:
        """Make steps due and say events if the log is still `length` long; False when it grew."""
        arguments: list[str | int] = [run, length, len(events), *(seal_event(event) for event in events)]
        for task in tasks:
            name = f"{run}/{task.node}.{task.visit}"
            record = {
                "task": name,
                "node": task.node,
                "visit": task.visit,
                "inputs": task.inputs,
                "writes": task.writes,
                "key": task.key,
            }
            inputs, writes = json.dumps(task.inputs), json.dumps(task.writes)
            arguments += [name, task.key, task.node, inputs, writes, task.visit, seal("activated", record)]
        return int(await self._scripts.run("activate", *arguments)) != -1

    async def claim(self, task: str, worker: str) -> Lease | None:
        """Take a due step and keep its lease renewed; None when it is not to be had."""
        asked = time.monotonic()
        answer = await self._scripts.run("claim", task, worker, int(self._renewer.lease_s * 1000))
        if answer is None:
            return None
        run, node, inputs, visit, token, attempts, pokes = answer
        self._renewer.hold(task, int(token), asked)
        return Lease(
            task=task,
            run=text(run),
            node=text(node),
            inputs=tuple(json.loads(inputs)),
            visit=int(visit),
            token=int(token),
            until=asked + self._renewer.lease_s,
            attempts=int(attempts),
            pokes=int(pokes),
        )

    async def commit(self, lease: Lease, commit: Commit) -> bool:
        """End the step. Raises `Fenced` for a stale token; False when it had been committed."""
        record: dict[str, object] = {"task": lease.task, "node": lease.node, "outcome": commit.outcome}
        record |= {"error": commit.error} | ({"ending": commit.ending} if commit.ending else {})
        entries = [await seal_entry(entry, self._blobs) for entry in commit.entries]
        events = [seal_event(event) for event in commit.events]
        answer = await self._scripts.run(
            "commit",
            lease.task,
            lease.token,
            commit.outcome,
            commit.retry_in_ms,
            lease.pokes,
            "" if commit.pull is None else commit.pull,
            commit.branch or "",
            commit.ending or "",
            seal("ended" if commit.outcome in ("done", "failed") else "note", record),
            len(entries),
            *entries,
            *events,
        )
        self._renewer.release(lease.task, lease.token)
        if int(answer) == -1:
            raise Fenced(f"{lease.task}: the lease is no longer ours")
        return int(answer) == 1

    async def due(self, limit: int) -> Sequence[tuple[str, str]]:
        """What is due now, oldest first, each with a version that changes when it is taken."""
        answer = await self._scripts.run("due", limit)
        return [(text(answer[i]), text(answer[i + 1])) for i in range(0, len(answer), 2)]

    async def alive(self, lease: Lease) -> bool:
        """Whether the lease still holds on this machine's monotonic clock."""
        return self._renewer.alive(lease.task, lease.token)

    async def lost(self, lease: Lease) -> Loss:
        """Returns when the lease is lost, and why."""
        return await self._renewer.lost(lease.task, lease.token)

    async def let_go(self, lease: Lease) -> None:
        """Stop renewing the lease; asks the store for nothing, so that it works while the store is away."""
        self._renewer.release(lease.task, lease.token)


class RedisTurns:
    """`handlers.ports.Turns`: a list of turns per step; the log gets a short record of each."""

    def __init__(self, scripts: Scripts, blobs: RedisBlobs) -> None:
        self._scripts = scripts
        self._blobs = blobs

    async def load(self, lease: Lease) -> Sequence[StoredTurn]:
        """The step's stored turns, in order."""
        rows = await self._scripts.command("LRANGE", self._scripts.key("turns", lease.task), 0, -1)
        return [StoredTurn(await unpack(row, self._blobs)) for row in rows]

    async def reserve(self, lease: Lease, amount: int, bounds: Bounds = UNBOUNDED) -> bool:
        """Set money aside for the next call. Raises `Fenced`."""
        limits = (bounds.installation, bounds.day, bounds.month)
        answer = int(await self._scripts.run("reserve", lease.task, lease.token, amount, *limits))
        if answer == -1:
            raise Fenced(f"{lease.task}: the lease is no longer ours")
        return answer == 1

    async def store(self, lease: Lease, number: int, turn: StoredTurn, cost: int, steers_seen: int) -> Sequence[str]:
        """Store turn `number` (from 0) once; returns the run's steers behind `steers_seen`. Raises `Fenced`."""
        brief = {k: v for k, v in turn.data.items() if k not in ("content", "pack")}
        record = {"task": lease.task, "node": lease.node, "visit": lease.visit, "number": number, **brief}
        answer = await self._scripts.run(
            "turn",
            lease.task,
            lease.token,
            number,
            await pack(turn.data, self._blobs),
            seal("turn", record),
            cost,
            "1" if turn.data.get("kind") == "reply" else "0",
            steers_seen,
        )
        if answer == -1:
            raise Fenced(f"{lease.task}: the lease is no longer ours")
        if answer == -2:
            raise RuntimeError(f"{lease.task}: turn {number} came before the one in front of it")
        return [text(steer) for steer in answer]

    async def waiting(self, lease: Lease, steers_seen: int) -> Sequence[str]:
        """The steers that came since the step began, behind `steers_seen`. Raises `Fenced`."""
        answer = await self._scripts.run("turn", lease.task, lease.token, 0, "", "", 0, "0", steers_seen)
        if answer == -1:
            raise Fenced(f"{lease.task}: the lease is no longer ours")
        return [text(steer) for steer in answer]

    async def left(self, run: str) -> int:
        """Micro-dollars that the run may still reserve."""
        key = self._scripts.key("run", run)
        f = fields(await self._scripts.command("HGETALL", key))
        return int(f["budget"]) - int(f["spent"]) - int(f["reserved"]) - int(f["unconfirmed"])

    async def ledger(self, run: str, installation: int) -> Ledger:
        """What the run's repository spent today, its installation this month, and what completed runs cost."""
        day, month, *past = [int(text(one)) for one in await self._scripts.run("ledger", run, installation)]
        return Ledger(day, month, tuple(past))


class RedisEffects:
    """`handlers.ports.Effects`: one hash per run, attempts beside receipts."""

    def __init__(self, scripts: Scripts) -> None:
        self._scripts = scripts

    async def attempt(self, lease: Lease, key: str) -> Attempted:
        """Note that the effect is about to be tried. Raises `Fenced`."""
        return await self._attempt(lease, key, "first")

    async def again(self, lease: Lease, key: str) -> None:
        """Note that the effect will be tried once more. Raises `Fenced`."""
        await self._attempt(lease, key, "again")

    async def _attempt(self, lease: Lease, key: str, mode: str) -> Attempted:
        record = seal("attempt", {"key": key, "task": lease.task})
        answer = await self._scripts.run("attempt", lease.task, lease.token, key, mode, record)
        state = int(answer[0])
        if state == -1:
            raise Fenced(f"{lease.task}: the lease is no longer ours")
        if state == 2:
            return Attempted("done", receipt=json.loads(answer[1]))
        return Attempted("new") if state == 0 else Attempted("open", since_ms=int(answer[1]))

    async def receipt(self, run: str, key: str, receipt: Mapping[str, object]) -> Mapping[str, object]:
        """Note what came of it; returns the receipt that stands (the first)."""
        stored = json.dumps(receipt, sort_keys=True)
        record = seal("receipt", {"key": key, "receipt": receipt})
        standing: dict[str, object] = json.loads(await self._scripts.run("receipt", run, key, stored, record))
        return standing

    async def known(self, run: str) -> Mapping[str, Attempted]:
        """All effects of the run by key: done ones with their receipts, and those whose outcome is not known."""
        book = fields(await self._scripts.command("HGETALL", self._scripts.key("eff", run)))
        done = {key[2:]: Attempted("done", receipt=json.loads(value)) for key, value in book.items() if key[0] == "r"}
        tried = {key[2:]: Attempted("open") for key in book if key[0] == "a"}
        return {**tried, **done}
