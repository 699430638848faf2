"""`seconder runs` on a store with a run in it, as an operator types it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from agents.board import Vote
from bot.cli import app
from handlers.advance import Advancer
from handlers.checkpoints import freeze, thaw
from handlers.ports import Commit
from handlers.work import Work
from infra.store import embedded
from infra.store.connection import PREFIX
from tests.fakes.store import RealStore
from tests.fakes.team import Team


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[embedded.EmbeddedServer]:
    """A store where the command looks for one: in a data directory."""
    running = embedded.start(tmp_path_factory.mktemp("data") / "store")
    yield running
    running.stop()


@pytest.fixture
async def team(server: embedded.EmbeddedServer, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Team]:
    store = RealStore(server, lease_s=2.0, prefix=PREFIX)
    await store.client.flushall()
    monkeypatch.setenv("SECONDER_DATA_DIR", str(server.pid_file.parent.parent))
    yield Team(store)
    await store.close()


async def run(*words: str) -> Result:
    """The command in a thread of its own, since it runs an event loop."""
    return await asyncio.to_thread(lambda: CliRunner().invoke(app, ["runs", *words]))


async def data(*words: str) -> Any:
    result = await run(*words, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


async def at_the_gate(team: Team) -> str:
    await team.file()
    await team.idle()
    return team.run


async def ended(team: Team) -> str:
    """A run that ended more than ten minutes ago."""
    await at_the_gate(team)
    assert (await run("cancel", team.run)).exit_code == 0
    await team.idle()
    key = team.store.scripts.key("run", team.run)
    await team.store.scripts.command("HINCRBY", key, "ended_at", -601_000)
    for hold in await team.store.client.keys(team.store.scripts.key("hold", "*")):
        await team.store.client.delete(hold)
    return team.run


async def test_an_empty_store(team: Team) -> None:
    assert await data("list") == []
    assert "no runs yet" in (await run("list")).stdout


async def test_list_names_each_run_on_a_line(team: Team) -> None:
    await at_the_gate(team)
    [one] = await data("list")
    assert (one["id"], one["status"], one["repository"], one["issue"]) == (team.run, "open", "octo/calc", team.issue)
    assert f"octo/calc#{team.issue}" in (await run("list")).stdout


async def test_show_tells_steps_entries_cost(team: Team) -> None:
    await at_the_gate(team)
    told = await data("show", team.run)
    assert {"survey", "developer", "tester", "quality"} <= {step["node"] for step in told["steps"]}
    code = next(entry for entry in told["entries"] if entry["kind"] == "code")
    assert code["author"] == "developer"
    assert "issue.1" in code["parents"]
    assert "value" not in code
    assert {one["node"] for one in told["cost"]} >= {"developer", "reviewer"}
    assert told["waits"] == "waiting"
    text = (await run("show", team.run)).stdout
    assert all(word in text for word in ("steps", "entries", "cost", code["id"], "issue.1"))
    assert len(text.splitlines()) < 60


async def test_show_tells_votes(team: Team) -> None:
    await at_the_gate(team)
    await team.put(team.entry("vote", Vote(gate="merge", digest="a" * 40, word="yes"), team.max))
    [vote] = (await data("show", team.run))["votes"]
    assert (vote["by"], vote["gate"], vote["word"]) == ("max", "merge", "yes")


@pytest.mark.parametrize("verb", ["show", "rebuild", "cancel", "purge", "verify"])
async def test_a_run_that_is_not_there(team: Team, verb: str) -> None:
    result = await run(verb, "7-7-7", *(["--yes"] if verb == "purge" else []))
    assert result.exit_code == 1
    assert "no run 7-7-7" in result.stderr
    assert "seconder runs list" in result.stderr
    assert "Traceback" not in result.output


async def test_rebuild_of_a_sound_run_differs_in_nothing(team: Team) -> None:
    await at_the_gate(team)
    assert await data("rebuild", team.run) == {
        "id": team.run,
        "records": (await team.facts()).length,
        "checkpoint": False,
        "differs": [],
    }
    again = await data("rebuild", team.run)
    assert (again["checkpoint"], again["differs"]) == (True, [])
    stored = await team.store.checkpoints.load(team.run)
    assert stored is not None
    assert stored.position == again["records"]


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        pytest.param("spent", 7, "spent: the run says 7", id="spent"),
        pytest.param("status", "run_failed", "status: the run says run_failed, its log open", id="status"),
    ],
)
async def test_rebuild_says_where_the_counters_differ(team: Team, field: str, value: object, said: str) -> None:
    await at_the_gate(team)
    await team.store.scripts.command("HSET", team.store.scripts.key("run", team.run), field, str(value))
    [line] = (await data("rebuild", team.run))["differs"]
    assert said in line


async def test_rebuild_after_the_end_knows_the_status(team: Team) -> None:
    assert (await data("rebuild", await ended(team)))["differs"] == []


async def test_rebuild_says_where_the_checkpoint_lies_and_replaces_it(team: Team) -> None:
    await at_the_gate(team)
    await data("rebuild", team.run)
    stored = await team.store.checkpoints.load(team.run)
    assert stored is not None
    state = thaw(stored)
    state.bills["developer"].cost += 1
    state.keys.add("never")
    await team.store.checkpoints.save(team.run, freeze(state))
    text = (await run("rebuild", team.run)).stdout
    assert "differs: checkpoint: bills" in text
    assert "differs: checkpoint: keys" in text
    assert (await data("rebuild", team.run))["differs"] == []


async def test_rebuild_says_that_the_checkpoint_is_damaged(team: Team) -> None:
    await at_the_gate(team)
    await team.store.client.set(team.store.scripts.key("checkpoint", team.run), b"nonsense")
    [line] = (await data("rebuild", team.run))["differs"]
    assert "digest" in line


@pytest.mark.parametrize("verb", ["rebuild", "show"])
async def test_a_log_that_cannot_be_read_fails(team: Team, verb: str) -> None:
    await at_the_gate(team)
    await team.store.client.xdel(team.store.scripts.key("log", team.run), "4-0")
    result = await run(verb, team.run)
    assert result.exit_code == 1
    assert "cannot be read at record 4" in result.stderr
    assert await team.store.checkpoints.load(team.run) is None


async def test_cancel_reaches_a_running_step_within_a_renewal(team: Team) -> None:
    begun, stopped = asyncio.Event(), asyncio.Event()

    async def act(work: Work) -> Commit:
        begun.set()
        try:
            await asyncio.sleep(30)
        finally:
            stopped.set()
        return work.done()

    await team.begin()
    team.steps["action:survey"] = act
    worker = asyncio.create_task(Advancer(team.context, team.steps, "w").advance(f"control:{team.run}"))
    await worker
    working = asyncio.create_task(Advancer(team.context, team.steps, "w").advance(f"{team.run}/survey.1"))
    await begun.wait()
    assert (await data("cancel", team.run, "--reason", "we move house"))["cancelled"] is True
    async with asyncio.timeout(1.5):
        await stopped.wait()
    await working
    await team.idle()
    assert (await team.facts()).status == "run_cancelled"
    assert "the operator stopped it: we move house" in team.comments()[0]
    again = await run("cancel", team.run)
    assert again.exit_code == 1
    assert "not open (run_cancelled)" in again.stderr


async def test_purge_refuses_an_open_run_with_the_way_out(team: Team) -> None:
    await at_the_gate(team)
    result = await run("purge", team.run, "--yes")
    assert result.exit_code == 1
    assert f"seconder runs cancel {team.run}" in result.stderr


async def test_purge_asks_first(team: Team) -> None:
    await ended(team)
    result = await asyncio.to_thread(lambda: CliRunner().invoke(app, ["runs", "purge", team.run], "n\n"))
    assert result.exit_code == 1
    assert (await team.store.trail.verify(team.run)).erased == 0


async def test_after_a_purge_the_trail_verifies_and_can_be_shown(team: Team) -> None:
    await ended(team)
    head = (await data("verify", team.run))["head"]
    done = await data("purge", team.run, "--yes")
    assert done["records"] == (await team.facts()).length
    assert done["blobs"] > 0
    verified = await data("verify", team.run, "--head", head)
    assert (verified["findings"], verified["erased"], verified["head"]) == ([], done["records"], head)
    told = await data("show", team.run)
    code = next(entry for entry in told["entries"] if entry["kind"] == "code")
    assert (code["author"], code["erased"]) == ("developer", True)
    assert "its content was erased" in (await run("show", team.run)).stdout
    assert (await data("rebuild", team.run))["differs"] == []


async def test_verify_finds_an_edit(team: Team) -> None:
    await at_the_gate(team)
    key = team.store.scripts.key("log", team.run)
    known = await team.store.client.xrange(key)
    await team.store.client.delete(key)
    for row, values in known:
        await team.store.client.xadd(key, {**values, b"at": b"1"} if row == b"2-0" else dict(values), id=row)
    result = await run("verify", team.run)
    assert result.exit_code == 1
    assert "record 2: the chain breaks here" in result.stdout


async def test_verify_against_another_head(team: Team) -> None:
    await at_the_gate(team)
    result = await run("verify", team.run, "--head", "0" * 40)
    assert result.exit_code == 1
    assert "not in 0000" in result.stdout


async def test_a_folder_without_a_store(team: Team, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECONDER_DATA_DIR", str(tmp_path))
    result = await run("list")
    assert result.exit_code == 1
    assert "There is no store in" in result.stderr
    assert list(tmp_path.iterdir()) == []


async def test_a_store_that_cannot_be_reached(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:1/0")
    result = await run("list")
    assert result.exit_code == 1
    assert "store cannot be reached" in result.stderr


def test_the_embedded_store_is_started_for_a_look_and_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECONDER_DATA_DIR", str(tmp_path))
    embedded.start(tmp_path / "store").stop()
    result = CliRunner().invoke(app, ["runs", "list", "--json"])
    assert (result.exit_code, json.loads(result.stdout)) == (0, [])
    again = embedded.start(tmp_path / "store")
    assert again.owned
    again.stop()
