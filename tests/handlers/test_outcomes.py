"""Which entry publishes which event."""

from __future__ import annotations

import pytest

from agents.board import KINDS, Author, Entry, Value
from handlers.events import OF_THE_TEAM
from handlers.outcomes import EVENT_OF, event_of, events_of_kind

PULL = {"number": 2, "url": "u", "branch": "b", "base": "main", "head_sha": "a", "tree": "t"}
RESULTS = {"base_sha": "a", "tree": "t", "pack": "p"}
TREE: dict[str, object] = {"summary": "s", "base_sha": "a", "tree": "t", "pack": "p", "files": []}
ISSUE = {"number": 1, "title": "t", "body": "", "author": "rita", "author_id": 5}
VALUES: list[tuple[str, dict[str, object], str | None]] = [
    ("issue", ISSUE, None),
    ("repo_map", {"base_sha": "a", "default_branch": "main", "listing": "", "files": 0}, None),
    ("requirements", {"summary": "s", "items": []}, "requirements_ready"),
    ("questions", {"questions": ["?"]}, "questions_asked"),
    ("report", {"outcome": "declined", "text": "no"}, "run_declined"),
    ("report", {"outcome": "note", "text": "by the way"}, None),
    ("design", {"approach": "so"}, "design_ready"),
    ("code", TREE, "code_updated"),
    ("tests", TREE, "tests_written"),
    ("test_results", {**RESULTS, "outcome": "passed"}, "tests_passed"),
    ("test_results", {**RESULTS, "outcome": "failed"}, "tests_failed"),
    ("test_results", {**RESULTS, "outcome": "not_run"}, "tests_not_run"),
    ("test_results", {**RESULTS, "outcome": "conflict"}, "conflict_found"),
    ("review", {"approved": True, "summary": "ok"}, "review_approved"),
    ("review", {"approved": False, "summary": "no"}, "review_rejected"),
    ("human_note", {"text": "hm", "via": "steer"}, "steered"),
    ("pull_request", {**PULL, "action": "opened"}, "pr_opened"),
    ("pull_request", {**PULL, "action": "updated"}, "pr_updated"),
    ("pull_request", {**PULL, "action": "ready"}, "pr_ready"),
    ("pull_request", {**PULL, "action": "pushed"}, "gate_voided"),
    ("findings", {"base_sha": "a", "tree": "b"}, None),
    ("vote", {"gate": "quality", "digest": "a", "word": "yes"}, None),
    ("summary", {"outcome": "merged", "text": ""}, "run_completed"),
    ("summary", {"outcome": "incomplete", "text": ""}, "run_failed"),
    ("summary", {"outcome": "failed", "text": ""}, "run_failed"),
    ("summary", {"outcome": "cancelled", "text": ""}, "run_cancelled"),
    ("summary", {"outcome": "declined", "text": ""}, None),
]


def entry(kind: str, value: Value) -> Entry:
    return Entry(id="e", kind=kind, value=value.model_dump(mode="json"), author=Author(kind="system", name="seconder"))


@pytest.mark.parametrize(("kind", "value", "event"), [pytest.param(*row, id=f"{row[0]}-{row[2]}") for row in VALUES])
def test_kind_and_outcome_fix_the_event(kind: str, value: dict[str, object], event: str | None) -> None:
    assert event_of(entry(kind, KINDS[kind].model_validate(value))) == event
    assert event is None or event in events_of_kind(kind)


def test_the_rows_above_show_every_kind_and_every_outcome() -> None:
    assert {kind for kind, _, _ in VALUES} == set(KINDS)
    shown = {(kind, event) for kind, _, event in VALUES if event}
    assert shown == {(kind, event) for kind in EVENT_OF for event in events_of_kind(kind)}


def test_every_published_event_is_known() -> None:
    assert {event for kind in EVENT_OF for event in events_of_kind(kind)} <= set(OF_THE_TEAM)


@pytest.mark.parametrize("kind", ["vote", "issue", "repo_map", "no_such_kind", ""])
def test_a_kind_that_publishes_nothing(kind: str) -> None:
    assert events_of_kind(kind) == frozenset()
