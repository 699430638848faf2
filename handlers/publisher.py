"""The only writer to GitHub. Every effect is booked before it is tried and receipted after; a repeat looks first.

An attempt without a receipt may have happened: it is looked up, released until the time-out and the settle window have
passed, looked up again, and only then repeated. The first receipt wins; whoever comes second removes its own duplicate.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass

from agents.ports import Fenced
from handlers.context import Context
from handlers.events import RepoRef
from handlers.ports import Later, Lease, Unknown

Receipt = Mapping[str, object]
UNDO_PAUSES_S = (0.5, 2.0, 8.0)


class Unsettled(Exception):
    """It is not known yet whether an effect happened; look again in `wait_ms`."""

    def __init__(self, key: str, wait_ms: int) -> None:
        super().__init__(f"not known yet whether {key} happened")
        self.wait_ms = wait_ms


@dataclass(frozen=True)
class Effect:
    """One change to GitHub. `do` makes it and returns its receipt; `find` looks whether it is there already;
    `undo` removes what `do` just made, where two of it would show."""

    key: str
    do: Callable[[], Awaitable[Receipt]]
    find: Callable[[], Awaitable[Receipt | None]]
    undo: Callable[[Receipt], Awaitable[None]] | None = None


class Publisher:
    """Performs the effects of one step, under that step's lease."""

    def __init__(self, context: Context, lease: Lease, repo: RepoRef) -> None:
        self.context = context
        self.lease = lease
        self.repo = repo

    async def once(self, effect: Effect) -> Receipt:
        """Make the effect true exactly once; returns the receipt that stands. Raises `Unsettled`, `Fenced` and what
        GitHub's ports raise."""
        book = self.context.store.effects
        known = await book.attempt(self.lease, effect.key)
        if known.state == "done":
            return known.receipt
        if known.state == "open":
            found = await effect.find()
            if found is not None:
                return await book.receipt(self.lease.run, effect.key, found)
            wait = self.context.options.settle_ms - known.since_ms
            if wait > 0:
                raise Unsettled(effect.key, wait)
            await book.again(self.lease, effect.key)
        if not await self.context.store.tasks.alive(self.lease):
            raise Fenced(f"{self.lease.task}: the lease ran out before {effect.key}")
        return await to_its_end(self._make(effect))

    async def _make(self, effect: Effect) -> Receipt:
        """Do it, receipt it, and remove it again where somebody else's receipt stands already."""
        book = self.context.store.effects
        try:
            made = await effect.do()
        except Unknown:
            found = await effect.find()
            if found is None:
                raise Unsettled(effect.key, self.context.options.settle_ms) from None
            return await book.receipt(self.lease.run, effect.key, found)
        standing = await book.receipt(self.lease.run, effect.key, made)
        if effect.undo is not None and dict(standing) != dict(made):
            await self._undo(effect.undo, made)
        return standing

    async def _undo(self, undo: Callable[[Receipt], Awaitable[None]], made: Receipt) -> None:
        """Nobody comes back to a double once it is left, so stumbles are not taken for an answer."""
        for pause in UNDO_PAUSES_S:
            try:
                await undo(made)
            except (Later, Unknown):
                await asyncio.sleep(pause)
            else:
                return
        await undo(made)

    async def comment(self, number: int, name: str, body: str) -> int:
        """One comment on an issue or pull request, found again by a hidden marker; returns its id."""
        mark = marker(self.lease.run, name)
        issues = self.context.github.issues

        async def do() -> Receipt:
            return {"comment": await issues.comment(self.repo, number, f"{body}\n\n{mark}")}

        async def find() -> Receipt | None:
            for comment in await issues.comments(self.repo, number):
                if comment.by_us and mark in comment.body:
                    return {"comment": comment.id}
            return None

        async def undo(made: Receipt) -> None:
            await issues.delete_comment(self.repo, int(str(made["comment"])))

        receipt = await self.once(Effect(f"comment:{name}", do, find, undo))
        return int(str(receipt["comment"]))


async def to_its_end(work: Coroutine[None, None, Receipt]) -> Receipt:
    """Wait for work that must not be cut off half-way: a cancellation is raised after it is done.

    A worker that was frozen past its lease finds both on waking: its request still goes out, and its step is
    cancelled. Cut off there, it would leave something on GitHub that it neither receipts nor removes.
    """
    task = asyncio.create_task(work)
    cancelled = False
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            cancelled = True
    if cancelled:
        task.exception()  # looked at, so that nobody is told of an error that nobody waits for
        raise asyncio.CancelledError
    return task.result()


def marker(run: str, name: str) -> str:
    """The hidden line by which one of our comments is found again."""
    return f"<!-- seconder:{run}:{name} -->"
