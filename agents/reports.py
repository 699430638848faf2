"""What a test run printed, cut to what a reader needs: the head and the end of each failure, and the summary."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agents.quoting import cut

LIMIT = 6_000
_SMALLEST = 500
_LINE = 240
_FIRST, _LAST = 9, 3

_FAILURE = re.compile(r"^(?:_{3,} .+ _{3,}|={70}\n(?=(?:FAIL|ERROR): ).*)$", re.MULTILINE)
"""Where a failure begins: a title between underscores (pytest), or a rule above `FAIL:` or `ERROR:` (unittest)."""

_SUMMARY = re.compile(
    r"^(?:=+ (?:warnings summary|tests coverage|short test summary info) =+|-{70}\n(?=Ran \d+ tests? in ).*)$", re.M
)
_SHORT = re.compile(r"^=+ short test summary info =+$", re.MULTILINE)
_EXPLAINED = re.compile(rf"(?:^E  .*\n){{{_FIRST + _LAST + 2},}}", re.MULTILINE)
_CAPTURED = re.compile(r"^-{3,} Captured .+ -{3,}$", re.MULTILINE)
_STATUS = re.compile(
    r"(?:FAILED|ERROR|SKIPPED|XFAIL|XPASS|PASSED|SUBFAILED\S*|SUBFAIL) |=+ |!+ |\d+ (?:failed|passed|error)"
)


def digest(output: str, hint: str = "", limit: int = LIMIT) -> str:
    """At most about `limit` characters of a test run's output, with notes of what was left out.

    Knows the failures and summaries of pytest and unittest; of any other output the head and, mostly, the end stay.
    The output comes from the code under test: nothing but the length is promised.
    """
    text = output.strip("\n")
    starts = [match.start() for match in _FAILURE.finditer(text)]
    end = _summary_at(text, starts[-1]) if starts else None
    if end is None:
        return _trimmed(text, limit, hint)
    summary = _without_repeats(text[end:])
    if end + len(summary) <= limit:
        return text[:end] + summary
    summary = _trimmed(summary, limit // 2, hint)
    opening = _trimmed(text[: starts[0]], limit // 8, hint)
    bounds = zip(starts, [*starts[1:], end], strict=True)
    room = limit - len(summary) - len(opening)
    failures = _within([text[a:b].rstrip("\n") for a, b in bounds], room, hint)
    return "\n".join(part for part in (opening.rstrip("\n"), *failures, summary) if part)


def _summary_at(text: str, after: int) -> int | None:
    found = _SUMMARY.search(text, after)
    return found.start() if found else None


def _without_repeats(summary: str) -> str:
    """pytest's short summary with one line for each test: in CI it says the failures above all over again."""
    short = _SHORT.search(summary)
    if short is None:
        return summary
    lines = summary[short.end() :].split("\n")
    last = max((index for index, line in enumerate(lines) if _STATUS.match(line)), default=0)
    kept = [line if len(line) <= _LINE else f"{line[:_LINE]} …" for line in lines[:last] if _STATUS.match(line)]
    return "\n".join([summary[: short.end()], *kept, *lines[last:]])


def _within(failures: list[str], room: int, hint: str) -> Iterator[str]:
    """As many failures as fit with a fair share each; what a short one leaves goes to those that follow."""
    for index, failure in enumerate(failures):
        left = len(failures) - index
        if room < min(len(failure), _SMALLEST):
            yield f"[… {left} more failures left out{'; ' + hint if hint else ''}]"
            return
        share = max(_SMALLEST, room // left)
        shown = failure if len(failure) <= share else _essence(failure, share)
        room -= len(shown)
        yield shown


def _essence(failure: str, limit: int) -> str:
    """Head and end of the code and the error; of what the test printed besides only the end, in a quarter of it."""
    captured = _CAPTURED.search(failure)
    at = captured.start() if captured else len(failure)
    printed = failure[at:]
    if captured and len(printed) > limit // 4:
        title = len(captured[0])
        printed = cut(printed, limit // 4 + title, tail=limit // 4)
    room = limit - len(printed)
    return cut(_EXPLAINED.sub(_shortened, failure[:at]), room, tail=room // 2) + printed


def _shortened(lines: re.Match[str]) -> str:
    """The first of many lines that explain one assertion, and the last few."""
    explained = lines[0].rstrip("\n").split("\n")
    missing = len(explained) - _FIRST - _LAST
    return "\n".join([*explained[:_FIRST], f"E     … ({missing} more lines)", *explained[-_LAST:], ""])


def _trimmed(text: str, limit: int, hint: str) -> str:
    return cut(text, limit, hint, tail=limit * 2 // 3)
