"""Test runs that hang, flood, fail, or do not exist."""

from __future__ import annotations

import pytest

from handlers.ports import LogRecord
from tests.e2e.house import House
from tests.e2e.plays import FIXED, TEST, Turns, code, play, write
from tests.e2e.scene import Scene

pytestmark = pytest.mark.asyncio(loop_scope="session")

HANGS = FIXED + "\n\nimport time\n\ntime.sleep(600)\n"
FLOODS = FIXED + "\n\nfor _ in range(1024):\n    print('x' * 1024 * 1024)\n"
WRONG = "def add(a, b):\n    return a * b\n"


def results(log: list[LogRecord]) -> list[dict[str, object]]:
    """The test results in a run's log."""
    found = (record.data["value"] for record in log if record.data.get("kind") == "test_results")
    return [dict(value) for value in found if isinstance(value, dict)]


async def test_bad_test_runs_are_told_apart_and_repaired(house: House) -> None:
    script = play(developer={1: [code(HANGS)], 2: [code(FLOODS)], 3: [code(WRONG)], "any": [code()]})
    scene = await Scene.open(house, "bad-runs", script)
    await scene.begin()
    await scene.event("gate_opened", gate="quality")
    runs = results(list(await scene.log()))
    assert [(run["outcome"], run["reason"]) for run in runs] == [
        ("failed", "timeout"),
        ("failed", "output_cap"),
        ("failed", "exit"),
        ("passed", "exit"),
    ]
    assert all(len(str(run["output"]).encode()) < 21_000 for run in runs)
    assert "printed more than the limit" in str(runs[1]["output"])
    told = [str(seen.request) for seen in scene.model.seen if seen.place.role == "developer"]
    assert "timeout" in told[1]
    assert "output_cap" in told[2]
    assert "AssertionError" in told[3]
    assert (await scene.names()).count("pr_opened") == 1
    assert "passed" in (await scene.pull())["body"]


async def test_tests_that_never_pass_end_in_a_draft(house: House) -> None:
    bodies = {number: WRONG.replace("a * b", f"a * b * {number}") for number in range(1, 7)}
    wrong: dict[int | str, Turns] = {number: [code(body)] for number, body in bodies.items()}
    scene = await Scene.open(house, "never-passes", play(developer=wrong))
    await scene.begin()
    await scene.ended("run_failed")
    status = await scene.status()
    assert "Not finished" in status
    assert "the tests do not pass" in status
    pull = await scene.pull()
    assert pull["draft"]
    assert "Not finished" in pull["body"]
    assert "failed" in pull["body"]
    assert "Tests: passed" not in pull["body"]
    assert await scene.text_of("calc.py", pull["head"]["sha"]) == bodies[6]
    assert await scene.conclusion() != "success"


async def test_without_a_test_command_nothing_is_called_passed(house: House) -> None:
    notes = {"calls": [write("tests/cases.txt", "2 3 5\n")], "submit": {"summary": "cases for a person to try"}}
    files = {"README.md": "# calc\n", "calc.py": "def add(a, b):\n    return a - b\n"}
    scene = await Scene.open(house, "no-tests", play(tester=[notes]), files=files)
    await scene.begin()
    await scene.event("gate_opened", gate="quality")
    pull = await scene.pull()
    assert "**not run**" in pull["body"]
    assert "passed" not in pull["body"]
    status = await scene.status()
    assert "not run" in status
    assert "passed" not in status


async def test_both_write_one_file(house: House) -> None:
    path = "tests/test_add.py"
    other = TEST.replace("AddTest", "OtherTest")
    both = {"calls": [write("calc.py", FIXED), write(path, other)], "submit": {"summary": "Make add add"}}
    scene = await Scene.open(house, "both", play(developer={1: [both], "any": [code(TEST, path=path)]}))
    await scene.begin()
    await scene.event("conflict_found")
    await scene.event("gate_opened", gate="quality")
    told = [str(seen.request) for seen in scene.model.seen if seen.place.role == "developer"][1]
    assert "OtherTest" in told
    assert "AddTest" in told
    pull = await scene.pull()
    assert await scene.text_of(path, pull["head"]["sha"]) == TEST
    assert await scene.text_of("calc.py", pull["head"]["sha"]) == FIXED
    assert "passed" in pull["body"]
