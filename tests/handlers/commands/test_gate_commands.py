"""Words at gates: what `/approve`, `/reject`, `/modify` and `/why` do, and how each is answered."""

from __future__ import annotations

import pytest

from agents.board import Code, Design, Entry, Requirements, Vote, value_of
from handlers.commands.approve import Approval, read
from handlers.ports import Word
from handlers.provenance import added_lines
from tests.fakes.team import Team
from tests.handlers.orders_scene import command, reactions, replies
from tests.handlers.values import DESIGN, REQUIREMENTS

SHA = "0123abcd" * 5
LATER = 9_999_999_999_999
READ = [
    pytest.param("", Approval(), id="bare"),
    pytest.param("security", Approval("security"), id="a gate"),
    pytest.param("SECURITY", Approval("security"), id="upper case"),
    pytest.param("0123abc", Approval(None, "0123abc"), id="a commit"),
    pytest.param("security 0123ABC", Approval("security", "0123abc"), id="both"),
    pytest.param("0123abc security", Approval("security", "0123abc"), id="the other way round"),
    pytest.param(SHA, Approval(None, SHA), id="a whole commit"),
    pytest.param("0123ab", "at least 7", id="too few digits"),
    pytest.param(SHA * 2, "understand", id="too many digits"),
    pytest.param("security cost", "understand", id="two gates"),
    pytest.param("0123abc fedc987", "understand", id="two commits"),
    pytest.param("looks good to me", "understand", id="words behind it"),
    pytest.param("security please", "understand", id="words behind the gate"),
]


@pytest.mark.parametrize(("text", "expected"), READ)
def test_what_stands_behind_approve(text: str, expected: Approval | str) -> None:
    found = read(text)
    assert found == expected if isinstance(expected, Approval) else expected in str(found)


async def at_a_gate(team: Team, gate: str = "cost", **data: object) -> None:
    """A run in which a gate has asked something."""
    await team.begin()
    await team.say("gate_opened", gate=gate, **({"digest": "run:5"} | data))


async def votes(team: Team) -> list[Entry]:
    return list((await team.state()).entries("vote"))


async def test_a_yes_is_written_down_with_who_what_where_and_when(team: Team) -> None:
    await at_a_gate(team)
    await command(team, "/approve\nWorth it.", team.ann, at=LATER)
    [entry] = await votes(team)
    vote = value_of(entry, Vote)
    assert (entry.author.name, entry.author.id, entry.at + 1) == ("ann", team.ann.id, team.clock.now_ms())
    assert (vote.gate, vote.digest, vote.word, vote.words, vote.via) == ("cost", "run:5", "yes", "Worth it.", "command")
    assert vote.url.startswith("https://github.test/c/")
    assert reactions(team) == {"eyes", "+1"}
    assert replies(team) == []


async def test_it_wakes_what_waits(team: Team) -> None:
    await at_a_gate(team)
    before = len(team.wake.asked)
    await command(team, "/approve cost", at=LATER)
    assert len(team.wake.asked) > before


REFUSED = [
    pytest.param("/approve", 1, "/approve cost", id="bare, before it was asked"),
    pytest.param("/approve cost", 0, "/approve cost", id="named, and nobody knows when"),
    pytest.param("/approve security", LATER, "security gate is not open", id="a gate that is not open"),
    pytest.param("/approve dance", LATER, "do not understand", id="no gate"),
    pytest.param("/approve +5 +5", LATER, "do not understand", id="two amounts"),
    pytest.param("/reject", LATER, "reason", id="a no without a reason"),
    pytest.param("/reject cost", LATER, "reason", id="a no by name without a reason"),
    pytest.param("/reject security too risky", LATER, "not open", id="a no at a gate that is not open"),
    pytest.param("/modify", LATER, "/modify design", id="modify nothing"),
    pytest.param("/modify issue\nElse", LATER, "requirements and design", id="modify what nobody may"),
    pytest.param("/modify design", LATER, "below the command", id="modify without a text"),
    pytest.param("/modify design\n" + "x" * 16_001, LATER, "16,000", id="modify with a huge text"),
    pytest.param("/modify design\nElse", LATER, "not written any yet", id="modify what is not there"),
]


@pytest.mark.parametrize(("text", "at", "said"), REFUSED)
async def test_what_decides_nothing_is_answered_once(team: Team, text: str, at: int, said: str) -> None:
    await at_a_gate(team)
    cause = await command(team, text, at=at)
    await command(team, text, at=at, cause=cause)
    [reply] = replies(team)
    assert said in reply
    assert await votes(team) == []
    assert (await team.facts()).status == "open"
    assert reactions(team) == {"eyes"}


async def test_a_stale_commit_is_answered_with_the_present_one(team: Team) -> None:
    await team.file()
    await team.idle()
    pull = (await team.state()).board.live("pull_request")
    assert pull is not None
    head, number = str(pull.value["head_sha"]), int(str(pull.value["number"]))
    await team.say("gate_opened", gate="cost", head=head)
    new = team.world.push(team.repo, str(pull.value["branch"]), {"x.py": "x = 1\n"})
    await command(team, f"/approve cost {head[:7]}", on_pull=number, at=LATER)
    [reply] = replies(team, number)
    assert new[:7] in reply
    assert await votes(team) == []


async def test_quality_is_decided_by_review(team: Team) -> None:
    await team.file()
    await team.idle()
    for text in ("/approve", "/approve quality", "/reject quality not like this"):
        await command(team, text, at=LATER)
    answers = replies(team)
    assert len(answers) == 3
    assert all("/files" in answer and "Request changes" in answer for answer in answers)
    assert await votes(team) == []


async def test_several_open_gates_are_listed(team: Team) -> None:
    await at_a_gate(team)
    await team.say("gate_opened", gate="plan", digest="p", who=["ann"])
    await command(team, "/approve", at=LATER)
    [reply] = replies(team)
    assert "`/approve cost`" in reply
    assert "`/approve plan`" in reply
    assert "**ann**" in reply


async def test_a_no_ends_the_run_with_its_reason_and_closes_our_pull_request(team: Team) -> None:
    await team.file()
    await team.idle()
    facts = await team.facts()
    assert facts.pull is not None
    await team.say("gate_opened", gate="cost", digest="run:5")
    await command(team, "/reject cost not worth\nthe money", team.ann)
    await team.idle()
    assert (await team.facts()).status == "run_cancelled"
    assert (await team.state()).cancelled == "ann said no at the cost gate: not worth\nthe money"
    assert team.world.issue(team.repo, facts.pull).state == "closed"
    [entry] = await votes(team)
    assert (entry.value["word"], entry.value["words"]) == ("no", "not worth\nthe money")


async def test_a_stop_leaves_the_pull_request_open(team: Team) -> None:
    await team.file()
    await team.idle()
    facts = await team.facts()
    await command(team, "/stop")
    await team.idle()
    assert facts.pull is not None
    assert team.world.issue(team.repo, facts.pull).state == "open"


async def test_a_vote_and_the_end_that_it_makes_are_one(team: Team) -> None:
    """Nobody can be woken between the two, and the same cause again changes nothing."""
    await at_a_gate(team)
    word = Word("d99", entries=(team.entry("vote", Vote(gate="cost", digest="run:5", word="no"), team.ann),), halt="no")
    assert await team.store.runs.vote(team.run, word)
    assert not await team.store.runs.vote(team.run, word)
    assert (await team.facts()).status == "cancelling"
    assert (await team.state()).cancelled == "no"


async def test_modify_replaces_the_requirements_and_the_team_goes_on_from_there(team: Team) -> None:
    await team.begin()
    await team.put(team.entry("requirements", REQUIREMENTS, "product_manager"))
    await command(team, "/modify requirements\nJSON output.\n- a flag\n2) errors on stderr\n", team.ann)
    state = await team.state()
    entry = state.board.live("requirements")
    assert entry is not None
    value = value_of(entry, Requirements)
    assert entry.author.name == "ann"
    assert value.summary == "JSON output."
    assert [(one.id, one.text) for one in value.items] == [("R1", "a flag"), ("R2", "errors on stderr")]
    assert value.affected_files == REQUIREMENTS.affected_files
    last = state.last("requirements_ready")
    assert last is not None
    assert last.data["entry"] == entry.id
    assert len(state.board.why(entry.id)) >= 2


async def test_modify_of_a_design_keeps_the_money_that_it_commits(team: Team) -> None:
    await team.begin()
    await team.put(team.entry("design", DESIGN.model_copy(update={"monthly_usd": 40.0}), "architect"))
    await command(team, "/modify design Keep one parser.")
    value = (await team.state()).board.value("design", Design)
    assert value == Design(approach="Keep one parser.", monthly_usd=40.0)
    assert "design_ready" in await team.said()


async def test_modify_is_a_vote_at_the_plan_gate(team: Team) -> None:
    await at_a_gate(team, "plan", digest="p")
    await team.put(team.entry("design", DESIGN, "architect"))
    await command(team, "/modify design\nKeep one parser.", team.ann)
    [entry] = await votes(team)
    assert (entry.value["gate"], entry.value["digest"], entry.value["word"]) == ("plan", "p", "modify")


DIFF = "--- a/calc.py\n+++ b/calc.py\n@@ -1,2 +1,4 @@\n def add(a, b):\n-    return a\n+    return a + b\n+\n+x = 1\n"


async def coded(team: Team) -> None:
    await team.begin()
    code = Code(summary="Adds x", base_sha="b", tree="t", pack="p", files=(), diff=DIFF)
    await team.put(team.entry("requirements", REQUIREMENTS, "product_manager", "req", ("issue.1",)))
    await team.put(team.entry("code", code, "developer", "c1", ("req",)))
    await team.put(team.entry("code", code, "developer", "c2", ("c1",)))


WHY = [
    pytest.param("/why", ["`c2`", "`req`", "`issue.1`"], id="bare: the newest"),
    pytest.param("/why req", ["`req`", "`issue.1`"], id="an entry"),
    pytest.param("/why requirements", ["`req`"], id="a kind"),
    pytest.param("/why calc.py:4", ["`c1`", "x = 1", "`issue.1`"], id="a line: who brought it first"),
    pytest.param("/why `calc.py:4`", ["`c1`"], id="a line in backquotes"),
    pytest.param("/why calc.py:1", ["know nothing", "`c2`"], id="a line that was there before"),
    pytest.param("/why calc.py:99999999", ["know nothing"], id="no line"),
    pytest.param("/why other.py:1", ["know nothing"], id="another file"),
    pytest.param("/why @everyone", ["know nothing"], id="hostile"),
]


@pytest.mark.parametrize(("text", "said"), WHY)
async def test_why_walks_back_to_the_issue(team: Team, text: str, said: list[str]) -> None:
    await coded(team)
    await command(team, text, team.guest)
    [reply] = replies(team)
    assert [one for one in said if one not in reply] == []


async def test_why_of_nothing(team: Team) -> None:
    await command(team, "/why")
    assert "/start" in replies(team)[0]


def test_lines_that_a_diff_adds() -> None:
    assert added_lines(DIFF, "calc.py") == {2: "    return a + b", 3: "", 4: "x = 1"}
    assert added_lines(DIFF, "calc") == {}
    assert added_lines("", "calc.py") == {}
