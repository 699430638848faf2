from __future__ import annotations

from tests.handlers.github.payloads import names


def test_a_ping_is_no_event() -> None:
    assert names("ping", {"zen": "Keep it logically awesome.", "hook_id": 1}) == []
