"""The one loop of all roles. Its state is the transcript: run it again over the stored turns and it goes on from there.

A reply is stored before its tools run, and results before the next call, so a crash at any instant pays again for
nothing that was stored. Why it stopped is a type of `agents.stops`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial

from pydantic import ValidationError

from agents import budget, transcript
from agents.budget import Spent
from agents.ports import Journal, Json, Model, ModelRequest, Prices, ToolError, ToolSpec, Turn
from agents.role import Output, Role
from agents.schema import tool_schema
from agents.stops import Cancelled, Failed, Finished, OutOfBudget, Parked, Refused, Stop
from agents.tools.router import Router, explain
from agents.transcript import SUBMIT, Call, text_block
from agents.views import View

MAX_CUTS = MAX_NUDGES = MAX_INVALID = 2
_LAST_TURNS = 3
_RESERVE_TRIES = 3


@dataclass(frozen=True)
class Step:
    """What one step works on.

    `turns` is its stored transcript, `steers` what people wrote that no stored turn carries yet, `granted` the tool
    call ids that a person let pass.
    """

    role: Role
    model: str
    view: View
    turns: tuple[Turn, ...] = ()
    steers: tuple[str, ...] = ()
    granted: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Ports:
    """What the loop works with. `fix` fixes the work tree after a change: its tree id and the digest of its pack."""

    model: Model
    prices: Prices
    journal: Journal
    router: Router
    fix: Callable[[], Awaitable[tuple[str, str]]]


async def run(step: Step, ports: Ports) -> Stop:
    """Go on from the stored turns to a stop. `ModelError` and `Fenced` pass through: the caller decides on them."""
    loop, stop = _Loop(step, ports), None
    while stop is None:
        stop = await (loop.call() if transcript.awaits_reply(loop.turns) else loop.answer(loop.turns[-1]))
    return stop


class _Loop:
    def __init__(self, step: Step, ports: Ports) -> None:
        self.step, self.ports = step, ports
        self.turns = list(step.turns)
        self.steers = step.steers

    @property
    def spent(self) -> Spent:
        return budget.spent(self.turns)

    def failed(self, reason: str) -> Failed:
        return Failed(reason, self.spent)

    async def call(self) -> Stop | None:
        """Ask the model for the next reply and store it, whatever it is: it is billed."""
        if self.spent.turns >= self.step.role.max_turns:
            return self.failed(f"used all {self.step.role.max_turns} turns without submitting a result")
        request = await self.reserve()
        if isinstance(request, OutOfBudget):
            return request
        reply = await self.ports.model.reply(request)
        cost = self.ports.prices.cost(self.step.model, reply.usage)
        names = tuple(call.name for call in transcript.calls(reply.content))
        turn = Turn("reply", reply.content, reply.stop_reason, reply.usage, cost, reply.model, reply.seconds, names)
        return await self.store(turn)

    async def reserve(self) -> ModelRequest | OutOfBudget:
        """Set aside the most that the call can cost; only where a rough estimate does not fit are tokens counted."""
        request, journal = self.request(), self.ports.journal
        rough = budget.rough_tokens(request, self.turns)
        if await journal.reserve(self.ports.prices.ceiling(self.step.model, rough, request.max_tokens)):
            return request
        price = partial(self.ports.prices.ceiling, self.step.model, await self.ports.model.count_tokens(request))
        for _ in range(_RESERVE_TRIES):
            left = await journal.left()
            fitting = budget.fit(price, left, request.max_tokens)
            if fitting is None:
                break
            if await journal.reserve(price(fitting)):
                return replace(request, max_tokens=fitting)
        return OutOfBudget(price(min(budget.FLOOR_TOKENS, request.max_tokens)), left, self.spent)

    def request(self) -> ModelRequest:
        role, view = self.step.role, self.step.view
        submit = ToolSpec(SUBMIT, "Hand in your result. This ends your work.", tool_schema(role.output, strict=True))
        tools, sent = (*self.ports.router.specs, submit), transcript.messages(view.first, self.turns)
        return ModelRequest(self.step.model, view.system, tools, sent, role.max_tokens, role.effort, role.seconds)

    async def answer(self, reply: Turn) -> Stop | None:
        """What follows from a reply that nothing was answered to yet, be it new or found in the store."""
        match reply.stop_reason:
            case "tool_use" | "end_turn" | "stop_sequence" | "pause_turn":
                asked = transcript.calls(reply.content)
                return await (self.tools(asked) if asked else self.nudge())
            case "max_tokens":
                return await self.go_on_after_cut(reply)
            case "refusal":
                return Refused(transcript.said(reply.content) or "the model declined without a reason", self.spent)
            case "model_context_window_exceeded":
                return self.failed("the conversation has outgrown the model's context window")
            case other:
                return self.failed(f"the model stopped for a reason that is not known here: {other or 'none given'}")

    async def tools(self, asked: list[Call]) -> Stop | None:
        """Run the calls in order; accept `submit` last, unless a call beside it failed or a person has just written."""
        for call in asked:
            if self.ports.router.asks(call.name) and call.id not in self.step.granted:
                return Parked(f"{self.step.role.name} asks to use {call.name}: {call.given}", call.id, self.spent)
        blocks: dict[str, Json] = {}
        trouble = False
        for call in asked:
            if call.name != SUBMIT:
                result = await self.ports.router.run(call.name, call.given)
                blocks[call.id] = call.result(result.text, result.is_error)
                trouble = trouble or result.is_error
        for call in asked:
            if call.name == SUBMIT:
                verdict = await self.judge(call, trouble)
                if isinstance(verdict, Output):
                    return Finished(verdict, self.spent)
                blocks[call.id] = call.result(verdict, is_error=True)
        if sum(isinstance(self.parse(call), str) for call in transcript.submissions(self.turns)) > MAX_INVALID:
            return self.failed(f"handed in a result that does not fit {MAX_INVALID + 1} times")
        return await self.results([blocks[call.id] for call in asked], asked)

    async def judge(self, call: Call, trouble: bool) -> Output | str:
        if trouble:
            return "Not accepted yet: a call beside it failed. Look at its result, put it right, and submit again."
        if self.steers:
            return "Not accepted yet: a person has just written to you, see below. Heed it, then submit again."
        lack = await self.ports.router.lack()
        if lack and len(transcript.submissions(self.turns)) <= MAX_INVALID:
            return f"Not accepted yet: {lack}"
        return self.parse(call)

    def parse(self, call: Call) -> Output | str:
        try:
            return self.step.role.output.model_validate(call.given)
        except ValidationError as error:
            return f"Not accepted, the input does not fit:\n{explain(error)}"

    async def nudge(self) -> Stop | None:
        if transcript.idle_replies(self.turns) > MAX_NUDGES:
            return self.failed(f"ended its turn {MAX_NUDGES + 1} times without submitting a result")
        return await self.results([transcript.NUDGE], [])

    async def go_on_after_cut(self, reply: Turn) -> Stop | None:
        """Say that the reply was cut; none of its calls run, since the last may be half of what was meant."""
        if transcript.cuts_in_a_row(self.turns) > MAX_CUTS:
            return self.failed(f"hit the token limit of one reply {MAX_CUTS + 1} times in a row")
        asked = transcript.calls(reply.content)
        return await self.results(
            [*(call.result(transcript.CUT_CALL, is_error=True) for call in asked), transcript.CUT], asked
        )

    async def results(self, blocks: list[Json], asked: list[Call]) -> Stop | None:
        """Store what goes back: tool results first, then people's words, then what else the model should know."""
        notes = [transcript.from_person(steer, self.step.view.delimiter) for steer in self.steers]
        tree = pack = ""
        if self.ports.router.take_changed():
            try:
                tree, pack = await self.ports.fix()
            except ToolError as error:
                notes.append(text_block(f"The work tree cannot be kept as it is: {error}"))
        left = self.step.role.max_turns - self.spent.turns
        if 0 < left <= _LAST_TURNS:
            notes.append(text_block(f"Replies left: {left}. Bring your work to an end and call `submit`."))
        names, content = tuple(call.name for call in asked), (*blocks, *notes)
        return await self.store(Turn("results", content, tools=names, tree=tree, pack=pack, steers=len(self.steers)))

    async def store(self, turn: Turn) -> Stop | None:
        """Store a turn. The steers that come back are all that no stored turn carries yet, so only the newest count."""
        signals = await self.ports.journal.store(turn)
        self.turns.append(turn)
        self.steers = signals.steers
        return Cancelled(self.spent) if signals.cancelled else None
