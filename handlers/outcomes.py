"""Which event an entry publishes: its kind and outcome fix it, so that nodes name none."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from agents.board import Entry

# kind -> outcome -> event. The outcome is read from the entry's value by `_outcome`.
EVENT_OF: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "requirements": {"": "requirements_ready"},
        "questions": {"": "questions_asked"},
        "report": {"declined": "run_declined", "note": ""},
        "design": {"": "design_ready"},
        "code": {"": "code_updated"},
        "tests": {"": "tests_written"},
        "test_results": {
            "passed": "tests_passed",
            "failed": "tests_failed",
            "not_run": "tests_not_run",
            "conflict": "conflict_found",
        },
        "review": {"approved": "review_approved", "rejected": "review_rejected"},
        "human_note": {"": "steered"},
        "pull_request": {"opened": "pr_opened", "updated": "pr_updated", "ready": "pr_ready", "pushed": "gate_voided"},
        "summary": {
            "merged": "run_completed",
            "incomplete": "run_failed",
            "failed": "run_failed",
            "cancelled": "run_cancelled",
            "declined": "",
        },
    }
)


def _outcome(entry: Entry) -> str:
    value = entry.value
    match entry.kind:
        case "report" | "test_results" | "summary":
            return str(value["outcome"])
        case "review":
            return "approved" if value["approved"] else "rejected"
        case "pull_request":
            return str(value["action"])
        case _:
            return ""


def event_of(entry: Entry) -> str | None:
    """The event's name, or None when the entry's kind publishes nothing (issue, repo_map, vote …)."""
    return EVENT_OF.get(entry.kind, {}).get(_outcome(entry)) or None


def events_of_kind(kind: str) -> frozenset[str]:
    """All events that an entry of this kind can publish."""
    return frozenset(event for event in EVENT_OF.get(kind, {}).values() if event)
