"""The conformance corpus: what a comment does in which scene, and how it is answered.

Every row is read by the translators; those that give a command, or are refused, arrive at the router of a whole worker.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from handlers.events import Actor, CommandGiven
from handlers.github import issue_comment, pull_request_review, pull_request_review_comment
from handlers.github.translation import AppIdentity, Found
from handlers.grammar import REFUSED
from handlers.ports import NewPull
from handlers.ports import Refused as RefusedByGitHub
from tests.fakes.team import Team
from tests.handlers.orders_scene import pull_of_ours, reactions, replies

FILE = Path(__file__).with_name("corpus.yaml")
KEYS = frozenset(
    "name body by where gives refused happens answer scene at was sent_by short closed locked".split()  # noqa: SIM905
)
EARLY = "2020-01-01T00:00:00Z"


def _rows() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    return rows


ROWS = _rows()
PARAMS = [pytest.param(row, id=row["name"]) for row in ROWS]


def test_the_corpus_is_whole() -> None:
    names = [row["name"] for row in ROWS]
    assert len(names) == len(set(names)) >= 120
    assert {key for row in ROWS for key in row} <= KEYS
    assert [row["name"] for row in ROWS if {"gives", "refused"} <= row.keys()] == []
    assert [row["name"] for row in ROWS if {"answer", "happens"} & row.keys() and not _told(row)] == []


def _told(row: Mapping[str, Any]) -> bool:
    return bool({"gives", "refused"} & row.keys())


@dataclass
class Stage:
    """The scene of a row: the head of our pull request, and the numbers of ours and of somebody else's."""

    head: str = "0" * 40
    pull: int = 0
    other: int = 0


def heard(row: Mapping[str, Any], team: Team, stage: Stage) -> tuple[Found, ...]:
    """What the translators make of the row's comment."""
    people = {name: getattr(team, name) for name in ("rita", "ann", "max", "guest")}
    people |= {
        "robot": Actor(id=901, login="robot", type="Bot"),
        "app": team.world.bot,
        "ghost": None,
        "tess": next((one for one in team.world.accounts.values() if one.login == "tess"), Actor(id=902, login="tess")),
    }
    author = people[row.get("by", "rita")]
    when = {"early": EARLY, "unknown": None}.get(row.get("at", ""), datetime(2099, 1, 1, tzinfo=UTC).isoformat())
    where = row.get("where", "issue")
    number = {"issue": team.issue, "other": stage.other}.get(where, stage.pull)
    comment: dict[str, Any] = {
        "id": _comment(team, number, author, row),
        "body": row["body"].format(head7=stage.head[:7], HEAD=stage.head.upper()),
        "user": _account(author),
        "html_url": "https://github.test/c/1",
        "created_at": when,
    }
    payload: dict[str, Any] = {
        "action": "edited" if "was" in row else "created",
        "sender": _account(people[row.get("sent_by", row.get("by", "rita"))]),
        "repository": {"id": team.repo.id, "full_name": team.repo.full_name},
        "installation": {"id": team.repo.installation},
        "changes": {"body": {"from": row["was"]}} if row.get("was") is not None else {},
    }
    app = AppIdentity(app_id=77, bot_id=team.world.bot.id, slug="seconder", short_commands=row.get("short", True))
    pull = {"number": number, "head": {"sha": stage.head}}
    if where == "review":
        review = {**comment, "state": "commented", "commit_id": stage.head, "submitted_at": when}
        action = "edited" if "was" in row else "submitted"
        return pull_request_review.translate(payload | {"pull_request": pull, "review": review, "action": action}, app)
    if where == "line":
        return pull_request_review_comment.translate(payload | {"pull_request": pull, "comment": comment}, app)
    issue = {"number": number} | ({"pull_request": {"url": "u"}} if where in ("pull", "other") else {})
    return issue_comment.translate(payload | {"issue": issue, "comment": comment}, app)


def _comment(team: Team, number: int, author: Actor | None, row: Mapping[str, Any]) -> int:
    return team.world.add_comment(team.repo, number or team.issue, author or team.guest, row["body"])


def _account(actor: Actor | None) -> dict[str, Any] | None:
    return None if actor is None else {"id": actor.id, "login": actor.login, "type": actor.type}


def given(found: tuple[Found, ...]) -> CommandGiven | None:
    """The command among what was heard."""
    return next((one.record for one in found if isinstance(one.record, CommandGiven)), None)


class NoStore(Team):
    """Only the people and the issue: for what is decided before anything is looked up."""

    def __init__(self) -> None:
        from tests.fakes.github import FakeGitHub

        self.world = FakeGitHub()
        self.repo = self.world.add_repo("octo/calc", {"calc.py": "x = 1\n"})
        for name in ("rita", "ann", "max", "guest"):
            setattr(self, name, self.world.add_person(self.repo, name, "write"))
        self.issue = self.world.add_issue(self.repo, self.rita, "Add a total")


@pytest.mark.parametrize("row", PARAMS)
def test_what_is_heard(row: dict[str, Any]) -> None:
    head = "0123abcd" * 5
    words = {"head7": head[:7], "HEAD": head.upper()}
    command = given(heard(row, NoStore(), Stage(head, 1, 1)))
    if "gives" in row:
        verb, arguments = row["gives"]
        assert command is not None
        assert (command.verb, command.arguments) == (verb, arguments.format(**words))
    elif "refused" in row:
        assert command is not None
        assert (command.verb, command.arguments) == (REFUSED, row["refused"])
    else:
        assert command is None


async def set_up(team: Team, scene: str) -> Stage:
    """Make the scene of a row."""
    team.world.push(team.repo, "patch-1", {"y.py": "y = 1\n"})
    stage = Stage(other=(await team.world.pulls.open(team.repo, NewPull("t", "b", "patch-1", "main"))).number)
    if scene == "none":
        return stage
    await team.begin()
    if scene in ("head", "pushed", "quality"):
        stage.head, stage.pull = await pull_of_ours(team)
    if scene in ("cost", "cost+plan"):
        await team.say("gate_opened", gate="cost", digest="run:5")
    if scene == "cost+plan":
        await team.say("gate_opened", gate="plan", digest="p")
    if scene in ("head", "pushed"):
        await team.say("gate_opened", gate="cost", head=stage.head)
    if scene == "quality":
        await team.work("quality")
        await team.say("gate_opened", gate="quality", head=stage.head)
    if scene == "pushed":
        team.world.push(team.repo, "seconder/x", {"x.py": "x = 2\n"})
    if scene in ("ended", "stopping"):
        await team.store.runs.cancel(team.run, "d99", "stopped")
    if scene == "ended":
        await team.idle()
    return stage


async def happened(team: Team, run: str, before: tuple[str, int, int]) -> str:
    """What a row's comment has changed."""
    now = await team.store.runs.find(team.repo, issue=team.issue) or ""
    if now != run:
        return "starts"
    if not run:
        return ""
    facts, state = await team.facts(), await team.state()
    changed = [f"{one.value['gate']} {one.value['word']}" for one in state.entries("vote")]
    changed += ["note" for _ in state.entries("human_note")]
    changed += [f"budget {(facts.budget - before[1]) // 1_000_000}"] if facts.budget != before[1] else []
    changed += ["stops"] if facts.status != before[0] else []
    return ", ".join(changed)


@pytest.mark.parametrize("row", [param for param in PARAMS if _told(param.values[0])])  # type: ignore[arg-type]
async def test_what_happens_and_is_answered(row: dict[str, Any], team: Team) -> None:
    team.world.add_person(team.repo, "tess", "triage")
    stage = await set_up(team, row.get("scene", "open"))
    if row.get("closed"):
        team.world.issue(team.repo, team.issue).state = "closed"
    if row.get("locked"):
        team.world.fail("issues.react", RefusedByGitHub("locked"), times=4)
    run, before = team.run, ("", 0, 0)
    if run:
        facts = await team.facts()
        before = (facts.status, facts.budget, facts.length)
    number = {"issue": team.issue, "other": stage.other}.get(row.get("where", "issue"), stage.pull) or team.issue
    old = len(replies(team, number))
    told = heard(row, team, stage)
    for cause in ("d77", "d77"):  # it comes twice, and counts once
        for found in told:
            if isinstance(found.record, CommandGiven):
                await team.send(found.record, cause, found.at)
    expected = row.get("happens", "")
    assert await happened(team, run, before) == ("" if expected == "looks" else expected)
    answers = replies(team, number)[old:]
    assert len(answers) == (1 if "answer" in row else 0), answers
    assert all(row["answer"] in answer for answer in answers)
    seen = row.get("where", "issue") in ("issue", "pull", "other") and not row.get("locked")
    assert ("+1" in reactions(team)) is (bool(expected) and seen)
