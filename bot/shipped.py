"""The workflows that come with Seconder, analysed before they are used."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from handlers.analysis import check
from handlers.workflow import Workflow, load

WORKFLOWS = ("feature",)


def workflows(rounds: int = 5) -> Mapping[str, Workflow]:
    """The shipped workflows, analysed; the developer gets its first visit and `rounds` of repair.

    Raises `WorkflowError`.
    """
    from agents.roles import ROLES
    from gates import GATES
    from handlers.steps import words

    shipped = {}
    for name in WORKFLOWS:
        text = (files("handlers") / "workflows" / f"{name}.yml").read_text()
        workflow = _with_rounds(load(text, f"{name}.yml"), rounds)
        check(workflow, [role.name for role in ROLES], words("action"), [gate.name for gate in GATES])
        shipped[name] = workflow
    return shipped


def _with_rounds(workflow: Workflow, rounds: int) -> Workflow:
    nodes = {
        name: node.model_copy(update={"max_visits": rounds + 1}) if node.role == "developer" else node
        for name, node in workflow.nodes.items()
    }
    return workflow.model_copy(update={"nodes": nodes})


def check_workflow(name: str) -> Workflow:
    """A shipped workflow by name, or one from a file, analysed. Raises `WorkflowError` or OSError."""
    shipped = workflows()
    if name in shipped:
        return shipped[name]
    from agents.roles import ROLES
    from gates import GATES
    from handlers.steps import words

    workflow = load(Path(name).read_text(), name)
    check(workflow, [role.name for role in ROLES], words("action"), [gate.name for gate in GATES])
    return workflow
