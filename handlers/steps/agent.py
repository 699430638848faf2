"""The step of a role: a view of the board in, a chain of stored turns, a typed entry out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

from agents.board import Code, Design, Entry, HumanNote, TestResults, value_of
from agents.loop import Ports, Step, run
from agents.ports import Json, Signals, ToolError, Tools, Turn, Usage
from agents.role import Made, Role
from agents.roles import role as role_named
from agents.stops import Cancelled, Failed, Finished, OutOfBudget, Parked, Refused, Stop
from agents.tools.router import Router
from agents.views import build_view
from handlers import configs
from handlers.events import Event
from handlers.ports import UNBOUNDED, Bounds, Commit, Lease, StoredTurn, Turns, Workspace
from handlers.steps.costing import ask_first, bounds
from handlers.steps.guarded import Guarded
from handlers.veiled import Veiled
from handlers.work import Work

LOOK_AGAIN_MS = 3_000


@dataclass(frozen=True)
class Start:
    """The tree that a role begins with. `includes`: the tests entries that are part of it."""

    base_sha: str
    tree: str | None = None
    packs: tuple[str, ...] = ()
    includes: tuple[str, ...] = ()


class StoredJournal:
    """`agents.ports.Journal` over the store, for one step."""

    def __init__(self, turns: Turns, lease: Lease, known: tuple[Turn, ...], bounds: Bounds = UNBOUNDED) -> None:
        self._turns = turns
        self._lease = lease
        self._bounds = bounds
        self._number = len(known)
        self.heard = sum(turn.steers for turn in known)

    async def reserve(self, amount: int) -> bool:
        """Set money aside; replaces the step's earlier reservation."""
        return await self._turns.reserve(self._lease, amount, self._bounds)

    async def left(self) -> int:
        """What the run may still reserve."""
        return await self._turns.left(self._lease.run)

    async def store(self, turn: Turn) -> Signals:
        """Store the next turn; returns the steers that no stored turn carries yet."""
        self.heard += turn.steers
        stored = StoredTurn(asdict(turn))
        steers = await self._turns.store(self._lease, self._number, stored, turn.cost, self.heard)
        self._number += 1
        return Signals(tuple(steers))


async def run_role(work: Work) -> Commit:
    """Run the node's role to a stop and commit what it made; not before people have said yes to what it costs."""
    role = _role(work)
    waits = await ask_first(work)
    if waits is not None:
        return waits
    turns = tuple(_turn(stored.data) for stored in await work.context.store.turns.load(work.lease))
    start = _start(work, role)
    fixed = next((turn for turn in reversed(turns) if turn.tree), None)
    tree, packs = (fixed.tree, (fixed.pack,)) if fixed is not None else (start.tree, start.packs)
    blobs = [await work.context.store.blobs.get(digest) for digest in packs if digest]
    async with work.context.workspaces.open(work.run.repo, start.base_sha, tree, blobs) as workspace:
        journal = StoredJournal(work.context.store.turns, work.lease, turns, bounds(work))
        stop = await _loop(work, role, turns, journal, workspace)
        if isinstance(stop, Finished):
            made = await _made(work, role, start, workspace)
            return await _finished(work, stop, made, journal.heard)
    if isinstance(stop, OutOfBudget):
        # Where it would fit after all, the step beside this one has set the rest aside, or somebody just gave more.
        return await ask_first(work, stop.needed) or Commit("parked", retry_in_ms=LOOK_AGAIN_MS)
    return _stopped(work, stop)


def _role(work: Work) -> Role:
    name = work.node.role if work.node is not None else None
    if name is None:
        raise LookupError(f"{work.lease.node} is no role")
    return role_named(name)


async def _loop(work: Work, role: Role, turns: tuple[Turn, ...], journal: StoredJournal, workspace: Workspace) -> Stop:
    entries = {kind: entry for kind, entry in work.inputs().items() if kind in role.readable}
    team = tuple(node.role for node in work.workflow.nodes.values() if node.role is not None)
    if "human_note" in entries:
        entries["human_note"] = _heard(work, entries["human_note"])
    view = build_view(role, entries, work.lease.visit, work.run.delimiter, team)

    async def fix() -> tuple[str, str]:
        snapshot = await workspace.snapshot()
        return snapshot.tree, await keep(work, snapshot.pack)

    waiting = tuple(await work.context.store.turns.waiting(work.lease, journal.heard))
    step = Step(role, work.context.options.tiers[role.tier], view, turns, waiting)
    hidden = configs.veil(await configs.of(work.context, work.run.repo))
    tools: Tools = Guarded(Veiled(workspace, hidden) if hidden.rules else workspace)
    ports = Ports(work.context.model, work.context.prices, journal, Router.for_role(role, tools), fix)
    return await run(step, ports)


async def keep(work: Work, pack: bytes) -> str:
    """Store a work tree's new objects. Raises `ToolError` for too many: trying again would bring the same."""
    try:
        return await work.context.store.blobs.put(pack)
    except ValueError as error:
        raise ToolError(f"the changed files are too large to keep ({error}); make them smaller") from error


def _heard(work: Work, newest: Entry) -> Entry:
    """The note that the step was activated with, joined with the others that came since the last code was written.

    Notes after it are left out, so that a resumed step shows the model what it was shown before.
    """
    notes: list[Entry] = []
    for entry in work.state.board.all():
        if entry.kind == "code":
            notes = []
        elif entry.kind == "human_note" and entry.author.kind == "person":
            notes.append(entry)
        if entry.id == newest.id:
            break
    if len(notes) < 2:
        return newest
    values = [value_of(entry, HumanNote) for entry in notes]
    text = "\n\n".join(f"{entry.author.name}: {value.text}" for entry, value in zip(notes, values, strict=True))
    joined = values[-1].model_copy(update={"text": text, "inline": tuple(n for v in values for n in v.inline)})
    return newest.model_copy(update={"value": joined.model_dump(mode="json")})


def _start(work: Work, role: Role) -> Start:
    """The newest joined tree; the tester starts from the base, since code and tests are written side by side."""
    base = Start(work.run.base_sha)
    if role.may_write == "tests":
        return base
    tested, code = work.input("test_results"), work.input("code")
    if tested is not None and (code is None or code.id in tested.derived_from):
        results = value_of(tested, TestResults)
        return Start(results.base_sha, results.tree, (results.pack,), results.includes)
    if code is not None:
        written = value_of(code, Code)
        return Start(written.base_sha, written.tree, (written.pack,), written.includes)
    return base


async def _made(work: Work, role: Role, start: Start, workspace: Workspace) -> Made | None:
    """The tree that the role leaves; None when it was to change something and did not."""
    made = Made(base_sha=start.base_sha, tree=start.tree or "", includes=start.includes)
    if role.may_write == "nothing":
        return made
    snapshot = await workspace.snapshot()
    if role.may_write == "anything" and not snapshot.files:
        return None
    return replace(
        made,
        tree=snapshot.tree,
        pack=await keep(work, snapshot.pack),
        files=snapshot.files,
        diff=snapshot.diff,
        outside_design=_outside(work, tuple(change.path for change in snapshot.files)),
    )


async def _finished(work: Work, stop: Finished, made: Made | None, heard: int) -> Commit:
    """The typed entry of what was made; what people said too late for the role is said again to the next."""
    if made is None:
        return _failed(work, "handed in a result, but no file differs from the base commit")
    kind, value = stop.output.to_board(made)
    unheard = await work.context.store.turns.waiting(work.lease, heard)
    return work.done(work.entry(kind, value), extra=await _late(work, len(unheard)))


async def _late(work: Work, unheard: int) -> tuple[Event, ...]:
    """Words that came too late for this step wake who listens for them, unless that one is at work and hears them."""
    data: dict[str, object] = {"via": "steer", "late": unheard}
    state = await work.context.states.of(work.run.id, work.context.store.runs)
    others = [work.workflow.nodes.get(step.node) for step in state.open_steps() if step.task != work.lease.task]
    hears = any(on.matches("steered", data) for node in others if node is not None for on in node.on)
    return (work.event("steered", data),) if unheard and not hears else ()


def _outside(work: Work, paths: tuple[str, ...]) -> tuple[str, ...]:
    """Changed files that the design does not name; none where it names no files at all."""
    design = work.input("design")
    named = set(value_of(design, Design).files_to_touch) if design is not None else set()
    return tuple(path for path in paths if path not in named) if named else ()


def _stopped(work: Work, stop: Stop) -> Commit:
    match stop:
        case Refused() | Failed():
            return _failed(work, stop.reason)
        case Parked():
            return work.parked(work.event("run_parked", {"why": stop.reason}))
        case Cancelled():
            return Commit("retry", retry_in_ms=1_000, error="cancelled")
        case Finished() | OutOfBudget():
            raise AssertionError("this step is committed before")


def _failed(work: Work, reason: str) -> Commit:
    event = work.event("step_failed", {"node": work.lease.node, "error": reason[:500]})
    return Commit("failed", events=(event,), error=reason[:500])


def _turn(data: Mapping[str, object]) -> Turn:
    """A stored turn as the loop knows it."""
    fields = dict(data)
    usage = fields.pop("usage")
    assert isinstance(usage, Mapping)
    content: tuple[Json, ...] = tuple(_list(fields.pop("content")))
    tools: tuple[str, ...] = tuple(_list(fields.pop("tools")))
    return Turn(content=content, tools=tools, usage=Usage(**usage), **fields)  # type: ignore[arg-type]


def _list(value: object) -> list:  # type: ignore[type-arg]
    assert isinstance(value, list)
    return value
