"""Test output, cut to what a reader needs."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.reports import LIMIT, digest


def failure(name: str, explained: int = 1, source: int = 3) -> str:
    """A failure as pytest prints it."""
    lines = [f"    line {number} of {name}" for number in range(source)]
    why = [f"E   {name} differs at {number}" for number in range(explained)]
    return "\n".join([f"____________ {name} ____________", "", *lines, *why, "", f"test_a.py:7: {name} AssertionError"])


def pytest_output(*failures: str, summary: str = "FAILED test_a.py::test_x - E0") -> str:
    head = "..F [100%]\n=========== FAILURES ===========\n"
    tail = f"\n=========== short test summary info ===========\n{summary}\n1 failed, 2 passed in 0.10s"
    return head + "\n".join(failures) + tail


RULE, THIN = "=" * 70, "-" * 70
UNITTEST = "..E\n" + "".join(
    f"{RULE}\nFAIL: test_{name} (tests.Case)\n{THIN}\nTraceback\n{'x' * 9_000}\nAssertionError: {name} is wrong\n\n"
    for name in ("one", "two")
)


@pytest.mark.parametrize(
    ("output", "kept", "gone"),
    [
        pytest.param("1 passed", ["1 passed"], ["left out"], id="short"),
        pytest.param("\n\n", [], ["left out"], id="blank"),
        pytest.param("first\n" + "." * 50_000 + "\nlast", ["first\n", "\nlast", "left out; look"], [], id="unknown"),
        pytest.param(
            pytest_output(failure("test_x"), summary="FAILED test_a.py::test_x - E0\n  - a\n  + b\nFAILED t::y - z"),
            ["E   test_x differs at 0", "test_x - E0\nFAILED t::y - z\n1 failed, 2 passed in 0.10s"],
            ["  + b", "left out"],
            id="the summary says nothing twice",
        ),
        pytest.param(
            pytest_output(failure("test_x"), summary="FAILED t::x - " + "y" * 9_000),
            ["FAILED t::x - yyy", "y …\n1 failed"],
            ["left out"],
            id="a long line of the summary",
        ),
        pytest.param(
            pytest_output(failure("test_x", explained=900), failure("test_y")),
            ["E   test_x differs at 5\n", "more lines)", "differs at 899", "test_a.py:7: test_x", "E   test_y differs"],
            ["differs at 450\n"],
            id="a long explanation leaves room for the next failure",
        ),
        pytest.param(
            pytest_output(*(failure(f"test_{number}", source=200) for number in range(40))),
            ["__ test_0 __", "test_a.py:7: test_0 A", "more failures left out; look", "1 failed, 2 passed"],
            ["__ test_39 __"],
            id="many failures",
        ),
        pytest.param(
            pytest_output(failure("test_x") + "\n---- Captured stdout call ----\n" + "noise\n" * 5_000 + "its end"),
            [
                "E   test_x differs at 0\n\ntest_a.py:7: test_x",
                "Captured stdout call",
                "its end\n",
                "1 failed, 2 passed",
            ],
            ["noise\n" * 300],
            id="what a test prints does not hide its error",
        ),
        pytest.param(
            f"{UNITTEST}{THIN}\nRan 3 tests in 0.1s\n\nFAILED (failures=2)",
            ["FAIL: test_one", "one is wrong", "FAIL: test_two", "two is wrong", "FAILED (failures=2)"],
            [],
            id="unittest",
        ),
        pytest.param(
            "======= FAILURES =======\n" + failure("test_x", source=9_000),
            ["FAILURES", "test_a.py:7: test_x", "left out"],
            [],
            id="stopped before the summary",
        ),
        pytest.param(
            pytest_output(failure("test_x"), summary="\n".join(f"FAILED t::{number} - no" for number in range(2_000))),
            ["__ test_x __", "FAILED t::0 ", "1 failed, 2 passed"],
            ["FAILED t::900 "],
            id="a summary longer than the limit",
        ),
    ],
)
def test_what_is_kept(output: str, kept: list[str], gone: list[str]) -> None:
    text = digest(output, "look")
    assert [words for words in kept if words not in text] == []
    assert [words for words in gone if words in text] == []
    assert len(text) < LIMIT + 800


PIECES = st.sampled_from(
    [
        "___ a ___\n",
        f"{RULE}\nFAIL: x\n",
        "E   y\n" * 30,
        "= short test summary info =\n",
        "FAILED z - w\n",
        f"{THIN}\nRan 2 tests in 1s\n",
        "x" * 3_000 + "\n",
        "\n",
        "= warnings summary =\n",
        "_" * 4_000,
        "E" * 4_000,
    ]
)


@given(st.lists(PIECES, max_size=60))
@settings(max_examples=200, deadline=None)
def test_whatever_is_printed_it_is_short_and_a_short_one_is_whole(pieces: list[str]) -> None:
    output = "".join(pieces)
    text = digest(output)
    assert len(text) < LIMIT + 1_500
    if len(output) < LIMIT and "short test summary" not in output:
        assert text == output.strip("\n")


@pytest.mark.parametrize("piece", ["_", "= ", "___ ", "E  \n", " ___", "=" * 70 + "\n", "FAILED "])
def test_hostile_output_takes_no_time(piece: str) -> None:
    assert len(digest(piece * (300_000 // len(piece)))) < LIMIT + 800
