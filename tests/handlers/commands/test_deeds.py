"""What each command does."""

from __future__ import annotations

import asyncio

import pytest

from agents.board import HumanNote, PullRequest
from agents.ports import ModelError
from handlers.money import micro_dollars
from handlers.ports import NewPull
from tests.fakes.actors import submit
from tests.fakes.team import Team
from tests.handlers.orders_scene import command, comment, reactions, replies

NEED_A_RUN = [
    pytest.param(text, id=text)
    for text in (
        "/status",
        "/steer x",
        "/stop",
        "/retry",
        "/budget +5",
        "/merge",
        "/approve",
        "/reject no",
        "/modify design\nElse.",
    )
]
QUESTIONS = submit(decision="questions", questions=["Which format?"])


@pytest.mark.parametrize("text", NEED_A_RUN)
async def test_without_a_run_it_says_what_would_work(team: Team, text: str) -> None:
    await command(team, text, team.max)
    [reply] = replies(team)
    assert "/start" in reply
    assert reactions(team) == {"eyes"}


@pytest.mark.parametrize("text", NEED_A_RUN)
async def test_after_the_end_it_says_so(team: Team, text: str) -> None:
    await team.begin()
    await team.store.runs.cancel(team.run, "d9", "stopped")
    await team.idle()
    before = await team.facts()
    await command(team, text, team.max)
    assert len(replies(team)) == 1
    assert (await team.facts()).budget == before.budget


# --- /start


async def test_start(team: Team) -> None:
    await command(team, "/start", team.max)
    await team.state()
    assert (await team.facts()).requester == team.max
    assert reactions(team) == {"eyes", "+1"}


async def test_start_while_a_run_is_open(team: Team) -> None:
    await team.begin()
    await command(team, "/start")
    assert "already" in replies(team)[0]
    assert len(await team.store.runs.recent(10)) == 1


async def test_start_while_a_run_is_being_stopped(team: Team) -> None:
    await team.begin()
    await team.store.runs.cancel(team.run, "d9", "stopped")
    await command(team, "/start")
    assert "already" in replies(team)[0]


async def test_start_again_after_the_end(team: Team) -> None:
    first = await team.begin()
    await team.store.runs.cancel(first, "d9", "stopped")
    await team.idle()
    await command(team, "/start")
    team.run = ""
    await team.state()
    assert team.run != first
    assert (await team.facts()).attempt == 2


async def test_start_on_a_closed_issue_says_why_not(team: Team) -> None:
    team.world.issue(team.repo, team.issue).state = "closed"
    await command(team, "/start")
    assert "closed" in replies(team)[0]
    assert reactions(team) == {"eyes"}


async def test_start_on_somebody_elses_pull_request_says_why_not(team: Team) -> None:
    team.world.push(team.repo, "seconder/x", {"x.py": "x = 1\n"})
    pull = await team.world.pulls.open(team.repo, NewPull("t", "b", "seconder/x", "main"))
    await command(team, "/start", on_pull=pull.number)
    assert "issue" in replies(team, pull.number)[0]


# --- /stop


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("/stop", "rita stopped it", id="bare"),
        pytest.param("/stop by hand", "rita stopped it: by hand", id="with a reason"),
        pytest.param("/stop by\nhand", "rita stopped it: by hand", id="on two lines"),
    ],
)
async def test_stop(team: Team, text: str, reason: str) -> None:
    await team.begin()
    await command(team, text)
    assert (await team.facts()).status == "cancelling"
    await team.idle()
    assert (await team.facts()).status == "run_cancelled"
    assert (await team.state()).cancelled == reason


async def test_a_long_reason_is_cut(team: Team) -> None:
    await team.begin()
    await command(team, f"/stop {'x' * 60_000}")
    assert len((await team.state()).cancelled or "") < 600


# --- /status


async def test_status_wakes_what_waits_and_says_nothing(team: Team) -> None:
    await team.begin()
    before = (await team.facts()).length
    await command(team, "/status", team.guest)
    assert reactions(team) == {"eyes", "+1"}
    assert (await team.facts()).length == before


# --- /budget

AMOUNTS = [
    pytest.param("+5", 5_000_000, id="plus"),
    pytest.param("2.50", 2_500_000, id="cents"),
    pytest.param("$3", 3_000_000, id="dollars"),
    pytest.param("+$3", 3_000_000, id="plus dollars"),
    pytest.param(" +0.01 ", 10_000, id="a cent"),
    pytest.param("1000", 1_000_000_000, id="the most"),
    pytest.param("", None, id="nothing"),
    pytest.param("+", None, id="only the plus"),
    pytest.param("0", None, id="zero"),
    pytest.param("0.009", None, id="less than a cent"),
    pytest.param("-5", None, id="negative"),
    pytest.param("+-5", None, id="plus minus"),
    pytest.param("1000.01", None, id="too much"),
    pytest.param("1e3", None, id="an exponent"),
    pytest.param("1e400000", None, id="a huge exponent"),
    pytest.param("NaN", None, id="not a number"),
    pytest.param("sNaN", None, id="signalling"),
    pytest.param("Infinity", None, id="infinity"),
    pytest.param("5 dollars", None, id="words"),
    pytest.param("5,50", None, id="a comma"),
    pytest.param("1_000", None, id="an underscore"),
    pytest.param("٥", None, id="another script's digit"),
    pytest.param("5 5", None, id="two numbers"),
]


@pytest.mark.parametrize(("text", "amount"), AMOUNTS)
def test_amounts(text: str, amount: int | None) -> None:
    assert micro_dollars(text) == amount


async def test_a_wrong_amount_is_answered_with_an_example(team: Team) -> None:
    await team.begin()
    await command(team, "/budget lots")
    assert "/budget +5" in replies(team)[0]
    assert (await team.facts()).budget == 5_000_000


async def test_the_operators_ceiling_holds(team: Team) -> None:
    await team.begin()
    await command(team, "/budget +20")
    assert (await team.facts()).budget == 25_000_000
    await command(team, "/budget +0.01")
    assert (await team.facts()).budget == 25_000_000
    assert "$25.00" in replies(team)[0]


async def test_several_at_once_do_not_go_beyond_the_ceiling_together(team: Team) -> None:
    """Each of several workers sees the limit as it was before."""
    await team.begin()
    await asyncio.gather(*(command(team, "/budget +15") for _ in range(3)))
    assert (await team.facts()).budget == 20_000_000
    assert sum("25.00" in reply for reply in replies(team)) == 2


# --- /steer


async def test_steer_while_an_agent_works_reaches_it(team: Team) -> None:
    await team.begin()
    work = await team.work("product_manager")
    await command(team, "/steer use the parser\nand keep the flag")
    assert list(await team.store.turns.waiting(work.lease, 0)) == ["use the parser\nand keep the flag"]
    said = (await team.state()).last("steered")
    assert said is not None
    assert said.data["via"] == "running"


async def test_steer_while_nobody_works_wakes_the_developer(team: Team) -> None:
    await team.file()
    await team.idle()
    before = len(team.actors.asked)
    await command(team, "/steer also say hello")
    said = (await team.state()).last("steered")
    assert said is not None
    assert said.data["via"] == "steer"
    await team.idle()
    assert team.actors.asked[before] == ("developer", 2)
    request = team.model.requests[before]
    assert "also say hello" in str(request.messages)


async def test_steer_is_an_entry_of_its_person(team: Team) -> None:
    await team.begin()
    await command(team, "/steer use the parser")
    [note] = [entry for entry in (await team.state()).board.all() if entry.kind == "human_note"]
    assert (note.author.kind, note.author.name, note.author.id) == ("person", "rita", team.rita.id)
    assert HumanNote.model_validate(note.value).url.startswith("https://github.test/c/")


async def test_steer_without_words_is_answered(team: Team) -> None:
    await team.begin()
    await command(team, "/steer")
    assert "no words" in replies(team)[0]
    assert "steered" not in await team.said()


@pytest.mark.parametrize("by_command", [True, False], ids=["by /steer", "by a plain comment"])
async def test_questions_are_answered_and_the_work_goes_on(team: Team, by_command: bool) -> None:
    team.actors.plays["product_manager"] = [[QUESTIONS], *team.actors.plays["product_manager"]]
    await team.file()
    await team.idle()
    assert (await team.said())[-1] == "questions_asked"
    if by_command:
        await command(team, "/steer JSON, please")
    else:
        await comment(team, "JSON, please", team.rita)
    await team.idle()
    assert team.actors.asked[1] == ("product_manager", 2)
    assert "JSON, please" in str(team.model.requests[1].messages)
    assert (await team.said())[-1] == "gate_opened"


async def test_questions_are_asked_once_and_two_rounds_have_two_comments(team: Team) -> None:
    team.actors.plays["product_manager"] = [[QUESTIONS], [QUESTIONS], *team.actors.plays["product_manager"]]
    await team.file()
    for _ in range(2):
        await team.idle()
        await command(team, "/steer whichever")
    await team.idle()
    asked = [body for body in team.comments() if "Which format?" in body]
    assert len(asked) == 2
    assert (await team.said())[-1] == "gate_opened"


# --- /retry


async def test_retry_where_nothing_failed(team: Team) -> None:
    await team.begin()
    await command(team, "/retry")
    assert "nothing to try again" in replies(team)[0]
    assert "run_resumed" not in await team.said()


async def test_retry_tries_the_failed_step_again(team: Team) -> None:
    team.actors.faults = [ModelError("unauthorised", "bad key")]
    await team.file()
    await team.idle()
    assert (await team.said())[-1] == "run_stuck"
    await command(team, "/retry")
    await team.idle()
    assert (await team.said())[-1] == "gate_opened"
    assert (await team.state()).steps[f"{team.run}/product_manager.2"].state == "done"


# --- /merge


async def at_the_gate(team: Team) -> PullRequest:
    await team.file()
    await team.idle()
    pull = (await team.state()).board.value("pull_request", PullRequest)
    assert pull is not None
    return pull


def votes(entries: tuple[object, ...]) -> int:
    return sum(getattr(entry, "kind", "") == "vote" for entry in entries)


async def test_merge_before_there_is_a_pull_request(team: Team) -> None:
    await team.begin()
    await command(team, "/merge", team.max)
    assert "pull request" in replies(team)[0]


@pytest.mark.parametrize("digits", [0, 7, 12, 40])
async def test_merge_votes_on_the_present_head(team: Team, digits: int) -> None:
    pull = await at_the_gate(team)
    await command(team, f"/merge {pull.head_sha[:digits].upper()}".strip(), team.max, on_pull=pull.number)
    [vote] = [entry for entry in (await team.state()).board.all() if entry.kind == "vote"]
    assert (vote.value["gate"], vote.value["digest"], vote.value["word"]) == ("merge", pull.head_sha, "yes")
    assert vote.author.id == team.max.id


async def test_merge_of_another_commit_is_answered(team: Team) -> None:
    pull = await at_the_gate(team)
    await command(team, "/merge 0000000", team.max, on_pull=pull.number)
    assert pull.head_sha[:7] in replies(team, pull.number)[0]
    assert votes((await team.state()).board.all()) == 0


async def test_a_push_makes_the_asked_for_commit_stale(team: Team) -> None:
    pull = await at_the_gate(team)
    team.world.push(team.repo, pull.branch, {"x.py": "x = 1\n"})
    await command(team, f"/merge {pull.head_sha[:12]}", team.max, on_pull=pull.number)
    assert len(replies(team, pull.number)) == 1
    assert votes((await team.state()).board.all()) == 0


async def test_merge_needs_more_than_write(team: Team) -> None:
    pull = await at_the_gate(team)
    await command(team, "/merge", team.rita, on_pull=pull.number)
    assert "maintain" in replies(team, pull.number)[0]
    assert votes((await team.state()).board.all()) == 0
