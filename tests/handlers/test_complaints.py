"""What people complain about in other orchestrators, each held here. A complaint is cited by its public issue.

`ELSEWHERE` names the tests that hold a complaint in the suite of the part that it is about.
"""

from __future__ import annotations

import ast
import asyncio
from pathlib import Path

import pytest

from agents.board import HumanNote, PullRequest, Vote
from agents.ports import Fenced, ToolError
from handlers.advance import Advancer
from handlers.events import Event
from handlers.ports import Commit, NewTask, StoredTurn, Word
from handlers.steps import agent, merge, quality
from tests.fakes.team import Team
from tests.handlers.steps.scene import ready

STEPS = "tests/handlers/steps"
STORE = "tests/infra/store"
ELSEWHERE = {
    "langchain-ai/langgraph#8836: an answer to a question that nobody asked vanishes": (
        "tests/handlers/commands/test_deeds.py",
        "test_without_a_run_it_says_what_would_work",
    ),
    "langchain-ai/langgraph#6663: one answer given twice counts twice": (
        f"{STORE}/test_runs.py",
        "test_a_vote_counts_once_per_cause",
    ),
    "pydantic/pydantic-ai#5536: an approval is a bare yes that fits whatever comes next": (
        f"{STEPS}/test_merge.py",
        "test_the_word_for_an_older_head_does_not_count",
    ),
    "langchain-ai/langgraph#2336: two branches that write one key fail or overwrite": (
        f"{STEPS}/test_run_tests.py",
        "test_the_same_file_written_differently_is_a_conflict",
    ),
    "langchain-ai/langgraph#8039: a crash between two writes decides between replay and double": (
        f"{STORE}/test_tasks.py",
        "test_a_commit_writes_everything_at_once_and_once",
    ),
    "langchain-ai/langgraph#7417: a long tool call is given out again while it runs": (
        f"{STORE}/test_tasks.py",
        "test_a_renewed_lease_outlives_its_length",
    ),
    "langchain-ai/langgraphjs#2608: a deploy strands the runs that wait": (
        "tests/handlers/test_advance.py",
        "test_a_run_of_a_workflow_that_is_no_longer_shipped_goes_on",
    ),
    "dbos-inc/dbos-transact-py#742: who lost the claim runs the step all the same": (
        "tests/handlers/test_advance.py",
        "test_a_task_that_is_not_to_be_had_is_left_alone",
    ),
    "python-arq/arq#402: a dead worker's job waits for hours": (
        "tests/crash/test_killed.py",
        "test_a_killed_worker_is_replaced",
    ),
    "taskiq-python/taskiq-redis#130: a dead consumer's message is never given out again": (
        f"{STORE}/test_bus.py",
        "test_a_dead_consumers_events_go_to_another",
    ),
    "taskiq-python/taskiq-redis#101: a long task is given out again while it is at work": (
        f"{STORE}/test_bus.py",
        "test_a_consumer_that_says_it_lives_keeps_its_events",
    ),
    "unkeyed/unkey#4979: after a deploy a stored run fits no more, and hangs": (
        "tests/handlers/test_migration.py",
        "test_what_is_unknown_is_said_and_waited_for",
    ),
    "bytedance/deer-flow#4274: a delivery that failed never comes again": (
        "tests/handlers/test_recovery.py",
        "test_each_that_failed_is_asked_for_once",
    ),
    "elie222/rakazo#883: tools that change things run again, and what is paid again is not shown": (
        f"{STEPS}/test_agent.py",
        "test_a_killed_worker_costs_the_call_in_flight_and_nothing_else",
    ),
    "Hmbown/Codewhale#6188: at a shared limit everybody stops with nothing handed in": (
        f"{STEPS}/test_agent.py",
        "test_too_little_more_pauses_again_and_loses_nothing",
    ),
    "caipe-io#1238: what finished runs leave behind grows without end": (
        f"{STORE}/test_retention.py",
        "test_transcripts_go_when_their_time_is_over",
    ),
    "python-arq/arq#498: a worker ends when the store is away for a moment": (
        "tests/bot/test_outages.py",
        "test_the_worker_waits_and_goes_on",
    ),
    "langchain-ai/langgraph#5672: a cancelled run leaves no word that it was": (
        f"{STORE}/test_runs.py",
        "test_cancel_fences_everything_but_status_and_is_said_once",
    ),
    "langchain-ai/langgraph#5548: at the limit the work so far is thrown away": (
        f"{STEPS}/test_agent.py",
        "test_out_of_money_in_the_middle_the_same_step_goes_on",
    ),
    "Hmbown/Codewhale#5156: each of several agents may spend the whole budget": (
        f"{STORE}/test_tasks.py",
        "test_two_steps_cannot_both_reserve_the_whole_budget",
    ),
    "open-mercato/cezar#69: a delivery that comes again begins a second run": (
        f"{STORE}/test_bus.py",
        "test_a_delivery_is_stored_once",
    ),
    "temporalio/temporal#1289: what is said while the work is handed on gets lost": (
        f"{STEPS}/test_agent.py",
        "test_words_that_come_while_it_works_are_in_its_next_call",
    ),
}


@pytest.mark.parametrize(("file", "name"), ELSEWHERE.values(), ids=list(ELSEWHERE))
def test_it_is_held_elsewhere(file: str, name: str) -> None:
    tree = ast.parse((Path(__file__).parents[2] / file).read_text())
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    assert name in defined, f"{file} holds this complaint in {name}; if it moved, say where"


@pytest.fixture
async def at_the_gate(team: Team) -> Team:
    await team.begin()
    await ready(team)
    return team


async def test_a_gate_that_is_woken_again_repeats_nothing(at_the_gate: Team) -> None:
    """langchain-ai/langgraph#6208: a node with a pause in it runs again from its top at each answer."""
    work = await at_the_gate.work("quality")
    for _ in range(4):
        commit = await quality.run(work)
        await at_the_gate.put(events=commit.events)
        await at_the_gate.state()
    assert at_the_gate.world.count("checks.create") == 1
    assert (await at_the_gate.said()).count("gate_opened") == 1


async def test_an_answer_goes_to_its_own_gate(at_the_gate: Team) -> None:
    """langchain-ai/langgraph#6533: two open questions, and their answers are swapped."""
    team = at_the_gate
    head = (await team.world.pulls.get(team.repo, 2)).head_sha
    await team.put(team.entry("vote", Vote(gate="merge", digest=head, word="yes", via="command"), team.max))
    assert (await quality.run(await team.work("quality"))).outcome == "parked", "/merge is no approval"
    team.world.add_review(team.repo, 2, team.ann, "approved")
    await team.put(team.entry("vote", Vote(gate="quality", digest=head, word="yes", via="review"), team.max))
    voted = [entry for entry in (await team.state()).board.all() if entry.kind == "vote"]
    assert [entry.value["gate"] for entry in voted] == ["merge", "quality"]


async def test_an_approval_does_not_merge(at_the_gate: Team) -> None:
    """langchain-ai/langgraph#6533, the other way round."""
    at_the_gate.world.add_review(at_the_gate.repo, 2, at_the_gate.max, "approved")
    assert (await merge.run(await at_the_gate.work("merge"))).outcome == "parked"
    assert at_the_gate.world.count("pulls.merge") == 0


async def test_yes_and_no_at_once_take_one_way(at_the_gate: Team) -> None:
    """FlowiseAI/Flowise#4848: a resumed flow goes on along both edges, approved and rejected."""
    team = at_the_gate
    team.world.add_review(team.repo, 2, team.max, "approved")
    team.world.add_review(team.repo, 2, team.ann, "changes_requested", "Not like this.")
    commit = await quality.run(await team.work("quality"))
    assert [entry.kind for entry in commit.entries] == ["human_note"]
    assert [event.name for event in commit.events] == ["steered"]
    assert commit.ending is None


async def test_a_hundred_at_once_lose_nothing(team: Team) -> None:
    """langchain-ai/langgraph#8115: read, filter and write back drops what others wrote meanwhile."""
    run = await team.begin()
    notes = [team.entry("human_note", HumanNote(text=str(n), via="steer"), team.ann, f"n{n}") for n in range(100)]
    words = [Word(f"cause-{n}", entries=(note,), budget=1) for n, note in enumerate(notes)]
    before = await team.facts()
    assert all(await asyncio.gather(*(team.store.runs.vote(run, word) for word in words)))
    found = {entry.id for entry in (await team.state()).board.all() if entry.kind == "human_note"}
    assert found == {note.id for note in notes}
    records = await team.store.runs.read(run, 0)
    assert [record.position for record in records] == list(range(1, len(records) + 1))
    assert (await team.facts()).budget == before.budget + 100


async def test_who_reads_a_long_history_holds_up_nobody_who_writes(team: Team) -> None:
    """langchain-ai/langgraph#8558: reading a history blocks writes."""
    run = await team.begin()
    for count in range(20):
        notes = [team.entry("human_note", HumanNote(text="x" * 500, via="steer"), team.ann) for _ in range(60)]
        await team.store.runs.vote(run, Word(f"c{count}", entries=tuple(notes)))
    order: list[str] = []

    async def history() -> int:
        records = await team.store.runs.read(run, 0)
        order.append("history")
        return len(records)

    async def word() -> None:
        assert await team.store.runs.vote(run, Word("meanwhile", steers=("now",)))
        order.append("word")

    read, _ = await asyncio.gather(history(), word())
    assert read > 1_200
    assert order == ["word", "history"], "a history is read in pages, and writes go between them"


async def test_a_replay_never_takes_what_another_step_stored(team: Team) -> None:
    """aws/aws-durable-execution-sdk-python#692: results are found again by their place in a row."""
    await team.begin()
    first = await team.work("product_manager", 1)
    await team.store.turns.store(first.lease, 0, StoredTurn({"kind": "reply", "content": ["first"]}), 5, 0)
    await team.store.tasks.commit(first.lease, Commit("done"))
    second = await team.work("product_manager", 2)
    assert await team.store.turns.load(second.lease) == []
    other = await team.work("architect", 1)
    assert await team.store.turns.load(other.lease) == []
    await team.store.effects.attempt(second.lease, "comment:a")
    assert (await team.store.effects.attempt(second.lease, "comment:b")).state == "new"


async def test_what_is_too_large_is_no_reason_to_try_for_ever(team: Team) -> None:
    """pydantic/pydantic-ai#7164: a payload over the limit is sent again without end."""
    await team.begin()
    work = await team.work("developer")
    with pytest.raises(ToolError, match="too large to keep"):
        await agent.keep(work, bytes(9 * 1024 * 1024))

    async def huge(_: object) -> Commit:
        await agent.keep(work, bytes(9 * 1024 * 1024))
        raise AssertionError("it was kept")

    await team.store.tasks.commit(work.lease, Commit("retry", retry_in_ms=1))
    await asyncio.sleep(0.02)
    await Advancer(team.context, {**team.steps, "role": huge}, "w").advance(work.lease.task)
    [failed] = [step for step in (await team.state()).steps.values() if step.node == "developer"]
    assert (failed.state, failed.error[:26]) == ("failed", "the changed files are too ")


async def test_a_step_that_kills_its_worker_each_time_is_said_to_be_stuck(team: Team) -> None:
    """python-arq/arq#267: after some crashes the job is dropped, and nobody is told."""
    team.with_options(max_attempts=2)
    await team.begin()
    task = (await team.work("survey")).lease.task
    for token in (1, 2):
        team.store.renewer.release(task, token)
        await team.store.client.zadd(team.store.scripts.key("due"), {task: 1})  # its lease has run out
        if token == 1:
            await team.claim(task)
    state = await team.until(lambda state: state.last("run_stuck") is not None)
    stuck = state.last("run_stuck")
    assert stuck is not None
    assert "gave up after 2 tries" in str(stuck.data["why"])
    assert (await team.facts()).status == "open", "/retry goes on from here"


async def test_after_the_end_a_word_starts_nothing(at_the_gate: Team) -> None:
    """ansible/awx#13465: an approval that has expired can still be clicked."""
    team = at_the_gate
    work = await team.work("quality")
    await team.store.tasks.commit(work.lease, Commit("done", ending="run_completed"))
    length = (await team.facts()).length
    vote = team.entry("vote", Vote(gate="merge", digest="a" * 40, word="yes", via="command"), team.max)
    said = Event(id="late", name="steered", run=team.run)
    assert not await team.store.runs.vote(team.run, Word("late", entries=(vote,), events=(said,), budget=5))
    assert (await team.facts()).length == length
    assert [member for member, _ in await team.store.tasks.due(50) if team.run in member] in (
        [],
        [f"{team.run}/status.1"],
    )


async def test_what_was_cancelled_is_not_done_by_the_next_message(team: Team) -> None:
    """EvoScientist/EvoScientist#464: after a cancel, the next message runs the whole batch again."""
    await team.begin()
    work = await team.work("developer")
    assert await team.store.runs.cancel(team.run, "c", "stopped")
    with pytest.raises(Fenced):
        await team.store.turns.store(work.lease, 0, StoredTurn({"kind": "reply"}), 1, 0)
    assert not await team.store.runs.vote(team.run, Word("next message", steers=("go on",)))
    again = NewTask("developer|again|0", "developer", (), ("code",), 2)
    assert await team.store.tasks.activate(team.run, (await team.facts()).length, [again], [])
    assert await team.store.tasks.claim(f"{team.run}/developer.2", "w") is None
    assert await team.store.tasks.claim(work.lease.task, "w") is None


async def test_a_tree_that_did_not_change_is_stored_once(team: Team) -> None:
    """langchain-ai/langgraphjs#1138: every checkpoint holds everything again."""
    await team.begin()
    work = await team.work("developer")
    kept = await agent.keep(work, b"pack" * 1000)
    size = await team.store.client.dbsize()
    assert await agent.keep(work, b"pack" * 1000) == kept
    assert await team.store.client.dbsize() == size


async def test_the_pull_request_is_the_one_that_was_approved(at_the_gate: Team) -> None:
    """langchain-ai/langgraph#6663: two different answers to one question; the newer of one person counts."""
    team = at_the_gate
    team.world.add_review(team.repo, 2, team.ann, "approved")
    team.world.add_review(team.repo, 2, team.ann, "changes_requested", "On second thought, no.")
    commit = await quality.run(await team.work("quality"))
    assert [entry.kind for entry in commit.entries] == ["human_note"]
    pull = (await team.state()).board.value("pull_request", PullRequest)
    assert pull is not None
    assert not (await team.world.pulls.get(team.repo, pull.number)).merged
