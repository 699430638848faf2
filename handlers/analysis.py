"""The analysis of a workflow before it runs: reachable, ending, bounded, fed, gated. Pure functions over the graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from handlers.outcomes import events_of_kind
from handlers.workflow import Node, Subscription, Workflow, WorkflowError

START = "run_started"
START_KINDS = frozenset({"issue"})


def check(workflow: Workflow, roles: Iterable[str], actions: Iterable[str], gates: Iterable[str]) -> None:
    """Raises `WorkflowError` naming every violation and the path that shows it."""
    problems = [
        *_unknown_workers(workflow, set(roles), set(actions), set(gates)),
        *_unreachable(workflow),
        *_endless(workflow),
        *_unbounded(workflow),
        *_unfed(workflow),
        *_ungated(workflow),
    ]
    if problems:
        raise WorkflowError(f"workflow {workflow.name}:\n" + "\n".join(f"- {problem}" for problem in problems))


@dataclass(frozen=True)
class Edge:
    """`source` publishes `event`, which wakes `target`. The source None is the start of a run."""

    source: str | None
    event: str
    target: str


def says(node: Node) -> frozenset[str]:
    """The events that a node's commit can publish."""
    events = set(node.says) or {event for kind in node.writes for event in events_of_kind(kind)}
    if node.gate is not None:
        events.add("gate_resolved")
    if node.max_visits is not None:
        events.add("visits_exhausted")
    return frozenset(events)


def edges(workflow: Workflow) -> tuple[Edge, ...]:
    """Every way in which one node can wake another. What people say at any time (`/steer`) is nobody's edge."""
    found = [
        Edge(source, event, target)
        for source, node in workflow.nodes.items()
        for event in sorted(says(node))
        for target, other in workflow.nodes.items()
        if any(s.event == event and _fits(s, source, node) for s in other.on)
    ]
    begun = [Edge(None, START, name) for name in starts(workflow)]
    return (*begun, *found)


def _fits(subscription: Subscription, source: str, node: Node) -> bool:
    """Whether what `source` would say passes the subscription's narrowing, as far as the graph can tell."""
    known = {"gate": node.gate, "node": source, "via": node.via}
    return all(known.get(key) is None or known[key] in values for key, values in subscription.where.items())


def starts(workflow: Workflow) -> tuple[str, ...]:
    """The nodes that the start of a run wakes."""
    return tuple(name for name, node in workflow.nodes.items() if any(s.event == START for s in node.on))


def _unknown_workers(workflow: Workflow, roles: set[str], actions: set[str], gates: set[str]) -> Iterable[str]:
    for name, node in workflow.nodes.items():
        for word, known, plural in (
            (node.role, roles, "roles"),
            (node.action, actions, "actions"),
            (node.gate, gates, "gates"),
        ):
            if word is not None and word not in known:
                yield f"{name} uses {word!r}; known {plural} are {', '.join(sorted(known))}"


def _paths(workflow: Workflow, use: Callable[[Edge], bool], sources: Iterable[str] = ()) -> dict[str, tuple[str, ...]]:
    """A shortest path to every node that edges which pass `use` lead to, from the start or from `sources`."""
    usable = [edge for edge in edges(workflow) if use(edge)]
    found: dict[str, tuple[str, ...]] = {name: (name,) for name in sources}
    if not found:
        found = {edge.target: (edge.target,) for edge in usable if edge.source is None}
    queue = list(found)
    while queue:
        here = queue.pop(0)
        for edge in usable:
            if edge.source == here and edge.target not in found:
                found[edge.target] = (*found[here], edge.target)
                queue.append(edge.target)
    return found


def _unreachable(workflow: Workflow) -> Iterable[str]:
    found = _paths(workflow, lambda edge: True)
    for name in workflow.nodes:
        if name not in found:
            yield f"{name} is never reached: no path leads to it from {START}"


def _endless(workflow: Workflow) -> Iterable[str]:
    """A node leads to those that it wakes, and to those that read what it writes (they are woken by another)."""
    for name, node in workflow.nodes.items():
        readers = [other for other, reader in workflow.nodes.items() if set(reader.kinds) & set(node.writes)]
        if not any(workflow.nodes[there].ends for there in _paths(workflow, lambda edge: True, [name, *readers])):
            yield f"from {name} no end can be reached"


def _unbounded(workflow: Workflow) -> Iterable[str]:
    """Cycles without a visit limit. Where people are waited for it is no machine's loop."""
    free = {name for name, node in workflow.nodes.items() if not (node.max_visits or node.gate or node.via)}

    def inside(edge: Edge) -> bool:
        return edge.source in free and edge.target in free

    for edge in edges(workflow):
        if inside(edge) and edge.source is not None:
            back = _paths(workflow, inside, [edge.target]).get(edge.source)
            if back is not None:
                yield f"a cycle without max_visits: {' → '.join((edge.source, *back))}"
                return


def _unfed(workflow: Workflow) -> Iterable[str]:
    """Required reads that some path leaves empty. An event that wakes a node together with a writer of the kind feeds
    it: the node is not due before the writer is done."""
    for name, node in workflow.nodes.items():
        for kind in node.required:
            if kind not in START_KINDS:
                path = _unfed_path(workflow, kind, name)
                if path is not None:
                    yield f"{name} needs {kind}, but nobody wrote it on the way {' → '.join(path)}"


def _unfed_path(workflow: Workflow, kind: str, reader: str) -> tuple[str, ...] | None:
    return _paths(workflow, lambda edge: not _feeds(workflow, edge, kind, reader)).get(reader)


def _feeds(workflow: Workflow, edge: Edge, kind: str, reader: str) -> bool:
    woken = {other.target for other in edges(workflow) if (other.source, other.event) == (edge.source, edge.event)}
    beside = woken - {edge.target}
    writers = {name for name, node in workflow.nodes.items() if kind in node.writes and name != reader}
    # Who can write one of several kinds wrote the one that its event tells of.
    told = edge.source in writers and edge.event in events_of_kind(kind)
    return told or bool(beside & writers)


def _ungated(workflow: Workflow) -> Iterable[str]:
    """Ways past a gate: the security gate comes before the pull request is ready and before the merge, the quality
    gate before the merge."""
    for gate in ("security", "quality"):
        found = _paths(workflow, _not_behind(workflow, gate))
        for name, node in workflow.nodes.items():
            guarded = node.gate == "merge" or (gate == "security" and "pr_ready" in says(node))
            if guarded and name in found:
                yield f"{name} is reached past the {gate} gate: {' → '.join(found[name])}"


def _not_behind(workflow: Workflow, gate: str) -> Callable[[Edge], bool]:
    return lambda edge: edge.source is None or workflow.nodes[edge.source].gate != gate
