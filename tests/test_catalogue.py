"""Lists say what the files say, and the README says what the code says.

`SECONDER_UPDATE_GOLDEN=1` writes the README's tables anew. Commands and GitHub's events have theirs beside their tests.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agents.board import KINDS
from agents.roles import ROLES, role
from agents.tools import TOOLS
from bot import settings, wiring
from gates import GATES
from handlers import commands, events
from handlers.events import ENDINGS, FROM_GITHUB, OF_THE_TEAM, GitHubEvent
from handlers.outcomes import EVENT_OF
from handlers.router import HANDLERS
from handlers.steps import steps

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
GITHUB_NAMES = {record.NAME for record in FROM_GITHUB}
KNOWN = GITHUB_NAMES | set(OF_THE_TEAM)


def stems(folder: str, pattern: str = "*.py", besides: tuple[str, ...] = ("__init__",)) -> set[str]:
    """The files of a folder by name, without those that are not entries of its list."""
    return {path.name.partition(".")[0] for path in (ROOT / folder).glob(pattern)} - set(besides)


@pytest.mark.parametrize(
    ("listed", "files"),
    [
        pytest.param([role.name for role in ROLES], stems("agents/roles"), id="roles"),
        pytest.param(
            [role.prompt.partition(".")[0] for role in ROLES], stems("agents/roles", "[!_]*.j2"), id="prompts"
        ),
        pytest.param(
            [tool.name for tool in TOOLS],
            stems("agents/tools", besides=("__init__", "paths", "router", "tool")),
            id="tools",
        ),
        pytest.param(
            [gate.name for gate in GATES],
            stems("gates", besides=("__init__", "approvals", "codeowners", "evidence", "gate", "verdict")),
            id="gates",
        ),
        pytest.param(list(wiring.WORKFLOWS), stems("handlers/workflows", "*.yml"), id="workflows"),
    ],
)
def test_the_list_is_the_files(listed: list[str], files: set[str]) -> None:
    assert sorted(listed) == sorted(files)


NO_NODE = {"cost"}
"""Gates that stand before steps instead of between them."""


def test_shipped_workflows_pass_their_analysis_and_use_all_there_is() -> None:
    """Roles, gates and actions that no workflow names would be dead."""
    nodes = [node for workflow in wiring.workflows().values() for node in workflow.nodes.values()]
    assert {node.role for node in nodes if node.role} == {role.name for role in ROLES}
    assert {node.gate for node in nodes if node.gate} == {gate.name for gate in GATES} - NO_NODE
    used = {f"action:{node.action}" for node in nodes if node.action} | {
        f"gate:{node.gate}" for node in nodes if node.gate
    }
    assert used | {"role", "status", "close"} == set(steps())


NOT_SHOWN = {"developer": {"code"}}
"""What a role's node reads for its work tree alone."""

NOT_READ = {"architect": {"human_note"}, "tester": {"code", "human_note"}}
"""What a role could be shown, and no shipped workflow gives it: these two are done before there is code or a note."""


@pytest.mark.parametrize("name", [role.name for role in ROLES])
def test_a_node_reads_what_its_role_is_shown(name: str) -> None:
    known = role(name)
    nodes = [node for workflow in wiring.workflows().values() for node in workflow.nodes.values() if node.role == name]
    for node in nodes:
        assert set(node.kinds) - set(known.readable) == NOT_SHOWN.get(name, set())
        assert set(known.readable) - set(node.kinds) == NOT_READ.get(name, set())
        assert set(known.required) <= set(node.required)
        assert set(known.writes) == set(node.writes)


def test_the_events_of_github_are_all_listed() -> None:
    records = [one for one in vars(events).values() if isinstance(one, type) and issubclass(one, events.Record)]
    named = {one for one in records if "NAME" in vars(one)}
    assert named == set(FROM_GITHUB)
    assert all(issubclass(one, GitHubEvent) or one is events.InstallationChanged for one in FROM_GITHUB)


def test_event_names_are_unique_and_plain() -> None:
    names = [*(record.NAME for record in FROM_GITHUB), *OF_THE_TEAM]
    assert len(names) == len(set(names))
    assert all(re.fullmatch(r"[a-z]+(_[a-z]+)*", name) for name in names)


def said(tree: ast.Module) -> Iterator[str]:
    """Names of events as they are written in code: `Event(name="…")` and `work.event("…")`."""
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        name: ast.expr | None = None
        if isinstance(call.func, ast.Name) and call.func.id == "Event":
            name = next((word.value for word in call.keywords if word.arg == "name"), None)
        elif isinstance(call.func, ast.Attribute) and call.func.attr == "event" and call.args:
            name = call.args[0]
        if isinstance(name, ast.Constant) and isinstance(name.value, str):
            yield name.value


def test_every_event_that_is_said_or_heard_is_known() -> None:
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in (ROOT / "handlers").rglob("*.py")]
    names = {name for tree in trees for name in said(tree)}
    assert {"run_resumed", "gate_resolved"} <= names
    assert names <= KNOWN
    assert set(HANDLERS) <= GITHUB_NAMES
    assert set(OF_THE_TEAM) >= ENDINGS


def test_every_outcome_is_of_a_known_kind_and_says_a_known_event() -> None:
    assert set(EVENT_OF) <= set(KINDS)
    assert {event for outcomes in EVENT_OF.values() for event in outcomes.values() if event} <= set(OF_THE_TEAM)


def test_every_message_has_a_golden_text() -> None:
    golden = stems("tests/handlers/messages/golden", "*.md")
    templates = stems("handlers/messages/templates", "*.j2")
    unseen = {name for name in templates if name.startswith("reply_")} - golden
    others = {name.partition("_")[0] for name in templates if not name.startswith("reply_")}
    assert unseen == set()
    assert others <= {name.partition("_")[0] for name in golden}


def rows(head: tuple[str, ...], lines: Iterator[tuple[str, ...]]) -> str:
    """A Markdown table."""
    table = [head, tuple("---" for _ in head), *lines]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in table)


def settings_table() -> str:
    """The settings as the README shows them."""
    lines = ((f"`{row.name}`", f"`{row.default}`" if row.default else "", row.meaning) for row in settings.table())
    return rows(("setting", "default", "meaning"), lines)


def gates_table() -> str:
    """The gates as the README shows them."""
    lines = ((one.name, f"`{one.check}`" if one.check else "none", one.opens, one.decides) for one in GATES)
    return rows(("gate", "check run", "opens on", "who decides"), lines)


@pytest.mark.parametrize(
    ("name", "table"),
    [
        pytest.param("commands", commands.table, id="commands"),
        pytest.param("gates", gates_table, id="gates"),
        pytest.param("settings", settings_table, id="settings"),
    ],
)
def test_the_readme_shows_the_code(name: str, table: Callable[[], str]) -> None:
    text = README.read_text(encoding="utf-8")
    begin, end = f"<!-- {name}: from the code -->\n", f"\n<!-- {name}: end -->"
    assert text.count(begin) == 1
    assert text.count(end) == 1
    before, _, rest = text.partition(begin)
    shown, _, after = rest.partition(end)
    if os.environ.get("SECONDER_UPDATE_GOLDEN"):
        README.write_text(before + begin + table() + end + after, encoding="utf-8")
        shown = table()
    assert shown == table()


def test_what_the_readme_links_to_is_there() -> None:
    links = re.findall(r"(?:\]\(|src=\")(?!https?:|#)([^)\"#]+)", README.read_text(encoding="utf-8"))
    assert len(links) > 3
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_decisions_are_numbered_without_gaps_and_have_their_parts() -> None:
    pages = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    assert [path.name[:5] for path in pages] == [f"{number:04}-" for number in range(1, len(pages) + 1)]
    for path in pages:
        found = re.findall(r"^## (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
        assert found == ["Context", "Decision", "Alternatives", "Consequences"], path.name
