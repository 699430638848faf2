"""Answers at gates, as views: beside `test_golden.py`, which holds their texts."""

from __future__ import annotations

from handlers.messages import replies

EVIL = "Fixes #99 @everyone ![x](https://evil.example/?q=1) <!-- hi --> /lgtm [skip ci]\u202e | cell"

GATE_REPLIES: dict[str, replies.Reply] = {
    "reply_gates": replies.WhatIsOpen(
        "approve",
        "More than one gate is open, so I need to know which one you mean.",
        (
            replies.GateLine("security", "/approve security 0123abc", True, ("ann", "max")),
            replies.GateLine("cost", "/approve cost", True),
            replies.GateLine("quality", "an approving review", False, ("ann",)),
        ),
    ),
    "reply_gates_none": replies.WhatIsOpen("approve", f"The {EVIL} gate is not open now."),
    "reply_ask_reason": replies.AskReason("security", "ann"),
    "reply_why": replies.Why(
        "calc.py:3",
        (
            replies.WhyLine("code.developer.1", "developer", "agent", f"Adds total() {EVIL}"),
            replies.WhyLine("design.d7", "ann", "person", "Keep one parser"),
            replies.WhyLine("repo_map.survey.1", "survey", "system", "12 files; tests: pytest"),
            replies.WhyLine("issue.1", "rita", "person", "#12 Add a total"),
        ),
        "def total(numbers):",
    ),
    "reply_why_unknown": replies.Why(f"`x`|{EVIL}", (), entries=("issue.1", "code.developer.1")),
}
