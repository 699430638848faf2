"""What holds for every translator."""

from __future__ import annotations

from pathlib import Path

import pytest

import handlers.github
from handlers.events import FROM_GITHUB
from handlers.github import TRANSLATORS, PayloadError, translate
from tests.handlers.github.payloads import APP, AROUND


def test_an_unknown_event_is_none() -> None:
    translation = translate("sponsorship", {**AROUND, "action": "created"}, "d-1", APP)
    assert (translation.events, translation.dedupe_body) == ((), True)


@pytest.mark.parametrize("name", TRANSLATORS)
@pytest.mark.parametrize(
    "payload",
    [
        pytest.param({}, id="empty"),
        pytest.param({"action": None, "repository": None, "installation": None, "sender": None}, id="nulls"),
        pytest.param({**AROUND, "action": "no such action"}, id="unknown action"),
        pytest.param({**AROUND, "unheard_of": [{}], "action": "opened"}, id="unknown fields"),
    ],
)
def test_nothing_to_read_is_no_event_and_no_error(name: str, payload: dict[str, object]) -> None:
    assert translate(name, payload, "d-1", APP).events == ()


@pytest.mark.parametrize("name", sorted(set(TRANSLATORS) - {"ping"}))
def test_a_wrong_type_is_named_and_not_repeated(name: str) -> None:
    with pytest.raises(PayloadError) as caught:
        translate(name, {**AROUND, "repository": "ghs_secretlooking"}, "d-1", APP)
    assert str(caught.value) == f"{name}: not of the documented type: repository"


def test_every_kind_of_event_from_github_can_arise() -> None:
    """Each record in the catalogue is named by some translator, so none is promised in vain."""
    sources = "".join(path.read_text(encoding="utf-8") for path in Path(handlers.github.__file__).parent.glob("*.py"))
    assert [record.__name__ for record in FROM_GITHUB if record.__name__ not in sources] == []
