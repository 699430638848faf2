"""A step's journal in memory that keeps the promises of `agents.ports.Journal`."""

from __future__ import annotations

from collections.abc import Sequence

from agents.ports import Fenced, Journal, Signals, Turn


class FakeJournal:
    """Stores turns and counts money; the switches are for tests.

    `left_over` is what the run may still spend (micro-dollars), `steers` all that people wrote to the step so far.
    `cancel_at` and `fence_at` are the numbers of the turns (from 1) whose storing brings the cancellation, or is
    refused because the step belongs to somebody else.
    """

    def __init__(self, left: int = 10_000_000, turns: Sequence[Turn] = ()) -> None:
        self.turns: list[Turn] = list(turns)
        self.left_over = left
        self.reserved = 0
        self.reservations: list[int] = []
        self.steers: list[str] = []
        self.steers_at: dict[int, list[str]] = {}
        self.cancel_at: int | None = None
        self.fence_at: int | None = None

    async def reserve(self, amount: int) -> bool:
        if amount > self.left_over:
            return False
        self.reserved = amount
        self.reservations.append(amount)
        return True

    async def left(self) -> int:
        return self.left_over

    async def store(self, turn: Turn) -> Signals:
        number = len(self.turns) + 1
        if self.fence_at == number:
            raise Fenced("the step belongs to somebody else by now")
        self.turns.append(turn)
        if turn.kind == "reply":
            self.left_over -= turn.cost
            self.reserved = 0
        self.steers += self.steers_at.get(number, [])
        carried = sum(stored.steers for stored in self.turns)
        return Signals(tuple(self.steers[carried:]), cancelled=self.cancel_at == number)


_CHECK: type[Journal] = FakeJournal
