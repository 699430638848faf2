"""What this version does not know of a run: it then waits, visibly, for a version that does, and goes on by itself."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import ValidationError

from agents.roles import ROLES
from handlers.ports import RunFacts
from handlers.state import RunState
from handlers.work import Step
from handlers.workflow import Node, Workflow

NEEDED, RESOLVED = "migration_needed", "run_resumed"
SYSTEM_STEPS = frozenset({"status", "close"})
UNKNOWN = Workflow(name="needs-migration", nodes={})


class NeedsMigration(Exception):
    """The run holds something that this version does not know; the text names it."""


def readable(facts: RunFacts, state: RunState, steps: Mapping[str, Step]) -> Workflow:
    """The run's own copy of its workflow. Raises `NeedsMigration` where this version cannot go on with the run."""
    try:
        workflow = Workflow.model_validate(facts.workflow)
    except ValidationError as error:
        lines = (f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()[:3])
        raise NeedsMigration(f"its workflow cannot be read ({'; '.join(lines)})") from error
    for where, what in state.strange.items():
        raise NeedsMigration(f"{where}: {what}")
    roles = {role.name for role in ROLES}
    for step in state.open_steps():
        node = workflow.nodes.get(step.node)
        if function_of(step.node, node) not in steps:
            raise NeedsMigration(f"the step {step.node}: nothing is known of {function_of(step.node, node)!r}")
        if node is not None and node.role is not None and node.role not in roles:
            raise NeedsMigration(f"the step {step.node}: nothing is known of the role {node.role!r}")
    return workflow


def function_of(name: str, node: Node | None) -> str:
    """What the function is called that runs a step: `role`, `action:<name>`, `gate:<name>`, or Seconder's own."""
    if node is None:
        return name
    if node.role is not None:
        return "role"
    return f"action:{node.action}" if node.action is not None else f"gate:{node.gate}"


def waits_for(state: RunState) -> str | None:
    """What the run said last that it waits for, or None when it does not wait for another version."""
    last = state.last(NEEDED, RESOLVED)
    return str(last.data.get("why", "")) if last is not None and last.name == NEEDED else None
