from __future__ import annotations

import pytest

from tests.handlers.github.payloads import ADA, BOB, HEAD, REF, REPO, US, WHEN, WHEN_MS, events, names

PULL: dict[str, object] = {
    "number": 7,
    "user": BOB,
    "head": {"sha": HEAD, "ref": "work", "repo": {"id": 2, "full_name": "bob/r"}},
    "base": {"sha": "b" * 40, "ref": "main", "repo": REPO},
    "merged": False,
    "updated_at": WHEN,
}
ABOUT = {
    "repo": REF,
    "sender": ADA,
    "number": 7,
    "head": HEAD,
    "head_ref": "work",
    "head_repo_id": 2,
    "base_ref": "main",
    "author": BOB,
}


@pytest.mark.parametrize(
    ("payload", "name", "more"),
    [
        pytest.param({"action": "opened"}, "pr_synchronized", {"before": None}, id="opened"),
        pytest.param({"action": "reopened", "before": "c"}, "pr_synchronized", {"before": None}, id="reopened"),
        pytest.param({"action": "synchronize", "before": "c"}, "pr_synchronized", {"before": "c"}, id="pushed"),
        pytest.param({"action": "synchronize"}, "pr_synchronized", {"before": None}, id="pushed, from unknown"),
        pytest.param({"action": "edited"}, "pr_edited", {"base_changed": False}, id="edited"),
        pytest.param(
            {"action": "edited", "changes": {"title": {"from": "x"}}}, "pr_edited", {"base_changed": False}, id="title"
        ),
        pytest.param(
            {"action": "edited", "changes": {"base": {"ref": {"from": "x"}}}},
            "pr_edited",
            {"base_changed": True},
            id="base changed",
        ),
        pytest.param({"action": "ready_for_review"}, "pr_edited", {"base_changed": False}, id="ready"),
        pytest.param({"action": "converted_to_draft"}, "pr_edited", {"base_changed": False}, id="draft"),
        pytest.param({"action": "closed"}, "pr_closed", {}, id="closed"),
        pytest.param(
            {"action": "closed", "pull_request": {**PULL, "merged": True, "merge_commit_sha": "d"}},
            "pr_merged",
            {"merge_sha": "d"},
            id="merged",
        ),
        pytest.param(
            {"action": "closed", "pull_request": {**PULL, "merged": None}}, "pr_closed", {}, id="merged is null"
        ),
    ],
)
def test_an_action_is_an_event(payload: dict[str, object], name: str, more: dict[str, object]) -> None:
    (event,) = events("pull_request", {"pull_request": PULL, **payload})
    assert (event.name, event.at, event.data) == (name, WHEN_MS, ABOUT | more)


@pytest.mark.parametrize(("action", "name"), [("labeled", "issue_labeled"), ("unlabeled", "issue_unlabeled")])
def test_a_label_is_the_issues(action: str, name: str) -> None:
    (event,) = events("pull_request", {"action": action, "pull_request": PULL, "label": {"name": "seconder:hold"}})
    assert event.name == name
    assert (event.data["number"], event.data["is_pull_request"], event.data["label"]) == (7, True, "seconder:hold")


@pytest.mark.parametrize("repo", [None, {}, {"id": None}])
def test_a_fork_that_is_gone_has_no_repository(repo: object) -> None:
    pull = {**PULL, "head": {"sha": HEAD, "ref": "work", "repo": repo}}
    (event,) = events("pull_request", {"action": "synchronize", "pull_request": pull})
    assert event.data["head_repo_id"] is None


def test_our_own_push_passes_and_its_sender_tells() -> None:
    (event,) = events("pull_request", {"action": "synchronize", "pull_request": PULL, "sender": US})
    assert (event.name, event.data["sender"]) == ("pr_synchronized", US)


@pytest.mark.parametrize(
    "payload",
    [
        pytest.param({"action": "assigned", "pull_request": PULL}, id="unread action"),
        pytest.param({"action": "review_requested", "pull_request": PULL}, id="review requested"),
        pytest.param({"action": "labeled", "pull_request": PULL}, id="labeled without a label"),
        pytest.param({"action": "opened", "pull_request": None}, id="null pull request"),
        pytest.param({"action": "opened", "pull_request": {**PULL, "number": None}}, id="no number"),
        pytest.param({"action": "opened", "pull_request": {**PULL, "head": None}}, id="null head"),
        pytest.param({"action": "opened", "pull_request": {**PULL, "head": {"sha": None}}}, id="null commit"),
        pytest.param({"action": "opened", "pull_request": PULL, "installation": None}, id="null installation"),
    ],
)
def test_what_cannot_be_acted_on_is_no_event(payload: dict[str, object]) -> None:
    assert names("pull_request", payload) == []
