from __future__ import annotations

import pytest

from tests.handlers.github.payloads import HEAD, REPO, events, names


def push(*paths: str, **more: object) -> dict[str, object]:
    """A push of one commit to the default branch."""
    commit = {"added": [], "removed": [], "modified": list(paths)}
    return {"ref": "refs/heads/main", "after": HEAD, "forced": False, "commits": [commit], **more}


def test_our_configuration_changed() -> None:
    (event,) = events("push", push("src/x.py", ".github/seconder.yml"))
    assert (event.name, event.data["head"]) == ("config_changed", HEAD)


@pytest.mark.parametrize(
    ("payload", "changed"),
    [
        pytest.param(push("seconder.yaml"), True, id="in the root"),
        pytest.param(push(commits=[{"added": [".github/seconder.yaml"]}]), True, id="added"),
        pytest.param(push(commits=[{"removed": [".github/seconder.yml"]}]), True, id="removed"),
        pytest.param(push("x", forced=True), True, id="forced: what it undid is not listed"),
        pytest.param(push(commits=[{}] * 20), True, id="too many commits to be listed"),
        pytest.param(push(commits=None), True, id="commits not listed"),
        pytest.param(push("src/x.py"), False, id="other files"),
        pytest.param(push("docs/seconder.yml"), False, id="in another folder"),
        pytest.param(push("seconder.yml", ref="refs/heads/other"), False, id="other branch"),
        pytest.param(push("seconder.yml", ref="refs/tags/main"), False, id="a tag named like the branch"),
        pytest.param(push("seconder.yml", ref=None), False, id="null ref"),
        pytest.param(push("seconder.yml", after="0" * 40), False, id="branch deleted"),
        pytest.param(push("seconder.yml", repository=None), False, id="null repository"),
        pytest.param(push("seconder.yml", repository={**REPO, "default_branch": None}), False, id="branch unknown"),
        pytest.param(push("seconder.yml", installation=None), False, id="null installation"),
        pytest.param(push(commits=[{"added": None, "removed": None, "modified": None}]), False, id="null lists"),
    ],
)
def test_only_our_file_on_the_default_branch_counts(payload: dict[str, object], changed: bool) -> None:
    assert names("push", payload) == (["config_changed"] if changed else [])
