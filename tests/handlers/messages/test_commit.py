"""How a developer's summary becomes a subject and a body."""

from __future__ import annotations

import pytest

from handlers.messages.commit import CommitView, render, split

LONG = "Fix slices of a set after removals, also negative ones. Bounds counted places that hold nothing now. See R1."


@pytest.mark.parametrize(
    ("summary", "subject", "rest"),
    [
        pytest.param("Fix the parser", "Fix the parser", "", id="a line"),
        pytest.param("Fix it\n\nIt was broken.", "Fix it", "It was broken.", id="a commit message"),
        pytest.param(
            LONG,
            "Fix slices of a set after removals, also negative ones.",
            "Bounds counted places that hold nothing now. See R1.",
            id="sentences on one long line",
        ),
        pytest.param("Use v1.2. Then stop", "Use v1.2. Then stop", "", id="a short line is kept whole"),
        pytest.param("x" * 100, "x" * 100, "", id="one long word"),
        pytest.param("  \n\n", "", "", id="nothing"),
    ],
)
def test_split(summary: str, subject: str, rest: str) -> None:
    assert split(summary) == (subject, rest)


def test_the_sign_off_stands_in_the_last_paragraph() -> None:
    view = CommitView(12, "Fix the sum.", "Why.", "seconder[bot] <7+seconder[bot]@users.noreply.github.com>")
    last = "Refs #12\nSigned-off-by: seconder[bot] <7+seconder[bot]@users.noreply.github.com>"
    assert render(view) == f"Fix the sum\n\nWhy.\n\n{last}"
