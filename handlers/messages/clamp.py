"""Cut a finished message to what GitHub takes, so that what is left still reads and still renders.

GitHub refuses bodies over 65,536 characters and check texts over 65,535. Length is counted in UTF-16 units, which is
never less than any other way of counting characters.
"""

from __future__ import annotations

import re

from handlers.messages.neutral import clip

BODY_LIMIT = 65_000
CHECK_LIMIT = 65_000
_FENCE = re.compile(r"(`{3,}|~{3,})")
_RESERVE = 200


def units(text: str) -> int:
    """Length in UTF-16 code units."""
    return len(text) + sum(character > "\uffff" for character in text)


def clamp(text: str, limit: int = BODY_LIMIT) -> str:
    """At most `limit` UTF-16 units, cut between lines from the end; the beginning, where hidden markers stand, is kept.

    A code block or `<details>` that the cut leaves open is closed, and a last line says how much is missing. Raises
    `ValueError` for a limit too small to hold that line.
    """
    if units(text) <= limit:
        return text
    if limit < _RESERVE:
        raise ValueError(f"a limit of {limit} characters leaves no room to say that something was cut")
    kept: list[str] = []
    room = limit - _RESERVE
    for line in text.split("\n"):
        size = units(line) + 1
        if size > room:
            break
        kept.append(line)
        room -= size
    body = "\n".join(kept).rstrip("\n")
    tail = [*_closing(kept), f"*(cut here: {len(text) - len(body):,} more characters did not fit)*"]
    done = "\n".join([body, *tail]) if body else "\n".join(tail).lstrip("\n")
    if units(done) <= limit:
        return done
    return clip(tail[-1], limit)


def _closing(lines: list[str]) -> list[str]:
    """What has to follow these lines so that nothing is left open. A block quote ends by itself."""
    fence = ""
    details = 0
    for line in lines:
        marks = line.strip(" ")
        if fence:
            fence = "" if len(marks) >= len(fence) and set(marks) == {fence[0]} else fence
        elif match := _FENCE.match(line):
            fence = match[1]
        else:
            details += (marks == "<details>") - (marks == "</details>")
    return [*([fence] if fence else []), "", *["</details>\n"] * max(0, details)]
