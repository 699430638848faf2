"""What is due. Events wake, the board decides: one pure function over the workflow and the run's state."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile

from handlers.events import Event
from handlers.ports import NewTask
from handlers.state import RunState
from handlers.workflow import Node, Subscription, Workflow


@dataclass(frozen=True)
class Decision:
    """Steps to make due and things to say, as of a log that is `length` long."""

    length: int
    tasks: tuple[NewTask, ...] = ()
    events: tuple[Event, ...] = ()


def decide(run: str, workflow: Workflow, state: RunState) -> Decision:
    """A woken node is due when its guard holds, its required reads are live, it is not at work already, and nobody who
    is at work can still write a kind that it reads. The same inputs never run twice: news that brought nothing new to
    read wakes in vain. Among nodes due together, earlier ones in the file go first. While the run is held,
    nothing is.
    """
    if state.held:
        return Decision(state.position)
    busy = {kind for step in state.open_steps() for kind in step.writes if not _waits(workflow, step.node)}
    working = {step.node for step in state.open_steps()}
    tasks: list[NewTask] = []
    events: list[Event] = []
    for name, node in workflow.nodes.items():
        if name in working or not _woken(name, node, state) or busy & set(node.kinds):
            continue
        if node.when is not None and not node.when.holds(state.board):
            continue
        if any(state.board.live(kind) is None for kind in node.required):
            continue
        task = _task(name, node, state)
        if task.key in state.keys:
            continue
        if node.max_visits is not None and state.node(name).since_person >= node.max_visits:
            events.append(_say(run, state, "visits_exhausted", {"node": name, "visits": node.max_visits}))
            continue
        tasks.append(task)
        busy |= set(node.writes)
    if not tasks and not events and _stuck(workflow, state):
        events.append(_say(run, state, "run_stuck", {"why": _why_stuck(state)}))
    return Decision(state.position, tuple(tasks), tuple(events))


def _waits(workflow: Workflow, name: str) -> bool:
    """Gates wait for people, maybe for days: nobody waits for what they may write."""
    node = workflow.nodes.get(name)
    return node is not None and node.gate is not None


def _woken(name: str, node: Node, state: RunState) -> bool:
    seen = _seen(name, node, state)
    return any(_wakes(subscription, state, seen) for subscription in node.on)


def _wakes(subscription: Subscription, state: RunState, seen: int) -> bool:
    """Whether an event behind `seen` matches; what cannot is told without a look at each event."""
    name = subscription.event
    for key, values in subscription.where.items():
        if max((state.newest(name, key, value) for value in values), default=0) <= seen:
            return False
    news = takewhile(lambda said: said.position > seen, reversed(state.heard(name)))
    return any(subscription.matches(said.name, said.data) for said in news)


def _seen(name: str, node: Node, state: RunState) -> int:
    """Up to where the node has looked. A gate looks at live facts until it ends, so what came meanwhile is no news."""
    known = state.node(name)
    return max(known.seen, known.ended) if node.gate is not None else known.seen


def _task(name: str, node: Node, state: RunState) -> NewTask:
    inputs = tuple(entry.id for kind in node.kinds if (entry := state.board.live(kind)) is not None)
    known = state.node(name)
    key = f"{name}|{','.join(inputs)}|{known.retries}"
    return NewTask(key=key, node=name, inputs=inputs, writes=node.writes, visit=known.visits + 1)


def _stuck(workflow: Workflow, state: RunState) -> bool:
    """Nobody works, nobody waits, and nothing said so yet."""
    if any(not _waits(workflow, step.node) for step in state.open_steps()):
        return False
    failed = any(node.failed for node in state.nodes.values())
    if not failed and state.open_steps():
        return False
    last = state.last("run_stuck", "run_resumed", "steered")
    return last is None or last.name != "run_stuck"


def _why_stuck(state: RunState) -> str:
    failed = [step for step in state.steps.values() if step.state == "failed" and state.node(step.node).failed]
    if failed:
        return f"{failed[-1].node}: {failed[-1].error}"
    return "nothing is left to do, and the run has not ended"


def _say(run: str, state: RunState, name: str, data: dict[str, object]) -> Event:
    return Event(id=f"{run}:{name}:{state.position}", name=name, run=run, data=data)
