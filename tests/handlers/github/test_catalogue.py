"""The list of translators, the files beside it and the App's manifest say the same."""

from __future__ import annotations

from pathlib import Path

import yaml

import handlers.github
from handlers.github import TRANSLATORS, UNASKED

ROOT = Path(__file__).parents[3]
SHARED = {"__init__", "translation", "fields", "comments"}


def manifest() -> dict[str, object]:
    """app.yml as data."""
    loaded = yaml.safe_load((ROOT / "app.yml").read_text(encoding="utf-8"))
    assert isinstance(loaded, dict)
    return loaded


def test_every_file_is_listed_and_every_translator_has_its_file() -> None:
    folder = Path(handlers.github.__file__).parent
    assert {path.stem for path in folder.glob("*.py")} - SHARED == set(TRANSLATORS)


def test_every_translator_is_that_of_its_own_file() -> None:
    for name, translator in TRANSLATORS.items():
        assert translator.__module__ == f"handlers.github.{name}"


def test_the_manifest_asks_for_exactly_the_events_that_are_read() -> None:
    events = manifest()["default_events"]
    assert isinstance(events, list)
    assert len(events) == len(set(events))
    assert set(events) == set(TRANSLATORS) - UNASKED
    assert set(TRANSLATORS) > UNASKED


def test_the_manifest_asks_for_no_more_permissions_than_the_app_needs() -> None:
    assert manifest()["default_permissions"] == {
        "metadata": "read",
        "issues": "write",
        "pull_requests": "write",
        "contents": "write",
        "checks": "write",
        "members": "read",
        "merge_queues": "read",
    }


def test_the_hook_is_active() -> None:
    hook = manifest()["hook_attributes"]
    assert isinstance(hook, dict)
    assert hook["active"] is True
