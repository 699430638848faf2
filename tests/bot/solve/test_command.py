"""What `seconder solve` refuses before anything is started, and what it says."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from rich.console import Console

from bot.solve.asked import Asked
from bot.solve.command import run_command
from bot.solve.folder import Order, new_folder

KEY = {"ANTHROPIC_API_KEY": "k"}


@dataclass
class Place:
    """A folder with an issue file and somewhere to keep solves; no repository."""

    root: Path

    @property
    def issue(self) -> Path:
        path = self.root / "issue.md"
        path.write_text("# Broken\n\nIt does not work.\n")
        return path

    @property
    def empty(self) -> Path:
        path = self.root / "empty.md"
        path.write_text(" \n")
        return path

    @property
    def state(self) -> Path:
        return self.root / "state"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


async def said(place: Place, asked: Asked, env: dict[str, str]) -> tuple[int, str]:
    """Exit code and what was printed."""
    out = io.StringIO()
    code = await run_command(Console(file=out, width=200), replace(asked, state=place.state), env)
    return code, out.getvalue()


@pytest.mark.parametrize(
    ("asked", "env", "why"),
    [
        pytest.param(Asked(Path("."), Path("@issue")), {}, "ANTHROPIC_API_KEY is missing", id="no key"),
        pytest.param(Asked(Path("."), Path("@issue")), KEY, "add --yes", id="nobody to ask"),
        pytest.param(Asked(Path("/nowhere/x"), Path("@issue"), yes=True), KEY, "does not exist", id="no such path"),
        pytest.param(Asked(Path("/"), Path("@issue"), yes=True), KEY, "is no git repository", id="no repository"),
        pytest.param(Asked(Path("."), Path("@empty"), yes=True), KEY, "is empty", id="an empty issue"),
        pytest.param(Asked(Path("."), Path("/nowhere/x"), yes=True), KEY, "cannot be read", id="no issue file"),
        pytest.param(Asked(Path("."), yes=True), KEY, "takes a repository and an issue", id="no issue named"),
        pytest.param(Asked(yes=True), KEY, "takes a repository and an issue", id="nothing named"),
        pytest.param(
            Asked(Path("."), Path("@issue"), resume=True, yes=True), KEY, "takes a repository", id="resume an issue"
        ),
        pytest.param(Asked(resume=True, yes=True), KEY, "There is no unfinished solve", id="nothing to resume"),
        pytest.param(
            Asked(Path("."), Path("@issue"), yes=True, budget=0), KEY, "SECONDER_BUDGET_USD", id="a budget of nothing"
        ),
        pytest.param(
            Asked(Path("."), Path("@issue"), yes=True, max_rounds=99), KEY, "SECONDER_MAX_ROUNDS", id="99 rounds"
        ),
        pytest.param(
            Asked(Path("."), Path("@issue"), yes=True, test_command="'x"), KEY, "cannot be read as words", id="a quote"
        ),
        pytest.param(
            Asked(Path("."), Path("@issue"), yes=True, env=Path("/nowhere")), KEY, "has no bin folder", id="no such env"
        ),
    ],
)
async def test_is_refused_before_anything_is_started(place: Place, asked: Asked, env: dict[str, str], why: str) -> None:
    named = {"@issue": place.issue, "@empty": place.empty}
    issue = named.get(str(asked.issue), asked.issue)
    code, text = await said(place, replace(asked, issue=issue), env)
    assert (code, why in text) == (2, True), text
    assert not list(place.state.glob("*/order.json"))


async def test_for_scripts_a_refusal_is_json_too(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    code, _ = await said(place, Asked(Path("/"), place.issue, yes=True, as_json=True), KEY)
    answer = json.loads(capsys.readouterr().out)
    assert (code, answer["outcome"]) == (2, "refused")
    assert "is no git repository" in answer["why"]


@pytest.mark.parametrize(
    ("names", "wanted", "why"),
    [
        pytest.param(["shop", "shop"], None, "Which one?", id="two, none named"),
        pytest.param(["shop"], "other", "No unfinished solve is called other", id="one, another named"),
    ],
)
async def test_what_can_be_resumed_is_listed(place: Place, names: list[str], wanted: str | None, why: str) -> None:
    for number, name in enumerate(names, 1):
        order = Order(repository=place.root, title=f"Title {number}", body="", base="main", head="0" * 40)
        new_folder(place.state, name).write(order)
    code, text = await said(place, Asked(Path(wanted) if wanted else None, resume=True, yes=True), KEY)
    assert code == 2
    assert why in text
    assert all(f"shop-{number}  Title {number}" in text for number in range(1, len(names) + 1))
