"""How each kind of board entry reads in a role's first message: a title and prose or lists, long texts cut with a note.

What our own agents wrote stands as it is. What people wrote, what the repository holds and what programs printed
stands inside the run's delimiter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from agents.board import (
    Code,
    Design,
    Entry,
    FileChange,
    HumanNote,
    Issue,
    Questions,
    RepoMap,
    Report,
    Requirements,
    Review,
    ReviewComment,
    TestResults,
    Tests,
    value_of,
)
from agents.quoting import cut, quote

LONG = 20_000
DIFF = 60_000
OUTPUT = 14_000
_TAIL = 11_000
_GUIDANCE = 8_000


def _bullets(title: str, items: Iterable[str]) -> str:
    lines = [f"- {item}" for item in items]
    return "\n".join([f"{title}:", *lines]) if lines else ""


def _join(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part)


def _repo_map(entry: Entry, delimiter: str) -> str:
    value = value_of(entry, RepoMap)
    command = " ".join(value.test_command or ())
    tests = f"Its tests are run by: {command} (from {value.test_command_source or 'its files'})"
    return _join(
        f"# The repository at {value.base_sha[:12]} (branch {value.default_branch}, {value.files} files)",
        tests if command else "No test command was found.",
        quote(cut(value.listing, LONG, "use list_directory"), delimiter, "file names"),
        *(quote(cut(text.text, _GUIDANCE, "read the file"), delimiter, text.path) for text in value.guidance),
    )


def _issue(entry: Entry, delimiter: str) -> str:
    value = value_of(entry, Issue)
    labels = f", labels: {', '.join(value.labels)}" if value.labels else ""
    text = f"{value.title}\n\n{cut(value.body, LONG)}"
    cut_note = "The end of the issue's text was cut off before it came here." if value.cut else ""
    return _join(f"# Issue #{value.number}", quote(text, delimiter, f"issue by {value.author}{labels}"), cut_note)


def _requirements(entry: Entry, _delimiter: str) -> str:
    value = value_of(entry, Requirements)
    items = [
        "\n".join([f"{item.id} ({item.priority}): {item.text}", *(f"  - {criterion}" for criterion in item.criteria)])
        for item in value.items
    ]
    return _join(
        "# Requirements",
        value.summary,
        "\n".join(items),
        _bullets("Files that are probably affected", value.affected_files),
        _bullets("Out of scope", value.out_of_scope),
    )


def _questions(entry: Entry, _delimiter: str) -> str:
    return _join("# Questions that the team asked", _bullets("To people", value_of(entry, Questions).questions))


def _report(entry: Entry, _delimiter: str) -> str:
    return _join("# Report", cut(value_of(entry, Report).text, LONG))


def _design(entry: Entry, _delimiter: str) -> str:
    value = value_of(entry, Design)
    return _join(
        "# Design",
        value.approach,
        _bullets("Decisions", (f"{item.decision} (why: {item.why})" for item in value.decisions)),
        _bullets("Contracts, which code and tests are both written against", value.contracts),
        _bullets("Files to touch", value.files_to_touch),
        _bullets("Constraints", value.constraints),
        _bullets("Risks", value.risks),
    )


def _code(entry: Entry, delimiter: str) -> str:
    value = value_of(entry, Code)
    return _join(
        "# The change",
        value.summary,
        f"The developer's notes: {value.notes}" if value.notes else "",
        _bullets("Known limitations", value.limitations),
        _bullets("Changed although the design does not name them", value.outside_design),
        _files(value.files),
        quote(cut(value.diff, DIFF, "use show_diff with a path"), delimiter, "diff") if value.diff else "",
    )


def _files(files: Iterable[FileChange]) -> str:
    return _bullets("Files (A added, M modified, D deleted)", (f"{file.status} {file.path}" for file in files))


def _tests(entry: Entry, _delimiter: str) -> str:
    value = value_of(entry, Tests)
    return _join(
        "# Tests that were written",
        value.summary,
        f"Covers: {', '.join(value.covers)}" if value.covers else "",
        f"The tester's notes: {value.notes}" if value.notes else "",
        _files(value.files),
    )


def _test_results(entry: Entry, delimiter: str) -> str:
    value = value_of(entry, TestResults)
    counts = ", ".join(
        f"{number} {word}"
        for number, word in ((value.passed, "passed"), (value.failed, "failed"), (value.skipped, "skipped"))
        if number is not None
    )
    conflicts = [
        _join(
            f"The developer and the tester wrote {conflict.path} differently. Bring both together in your tree.",
            quote(cut(conflict.developer, LONG), delimiter, f"{conflict.path} by the developer"),
            quote(cut(conflict.tester, LONG), delimiter, f"{conflict.path} by the tester"),
        )
        for conflict in value.conflicts
    ]
    return _join(
        f"# Test run: {value.outcome}{f' ({counts})' if counts else ''}",
        f"Why: {value.reason}" if value.reason and value.outcome != "passed" else "",
        f"Command: {' '.join(value.command)}" if value.command else "",
        "The output comes from the code under test: it can claim anything." if value.output else "",
        quote(cut(value.output, OUTPUT, "use run_tests", tail=_TAIL), delimiter, "test output") if value.output else "",
        *conflicts,
        quote(cut(value.diff, DIFF, "use show_diff with a path"), delimiter, "diff of code and tests")
        if value.diff
        else "",
    )


def _comment(comment: ReviewComment) -> str:
    place = f"{comment.file}:{comment.line}" if comment.line else comment.file
    fix = f" (suggested: {comment.suggestion})" if comment.suggestion else ""
    return f"[{comment.severity}, {comment.category}] {place}: {comment.message}{fix}"


def _review(entry: Entry, _delimiter: str) -> str:
    value = value_of(entry, Review)
    word = "approved" if value.approved else "changes are needed"
    return _join(f"# Review: {word}", value.summary, _bullets("Comments", map(_comment, value.comments)))


def _human_note(entry: Entry, delimiter: str) -> str:
    value = value_of(entry, HumanNote)
    inline = [f"{note.path}:{note.line or '?'}: {note.text}" for note in value.inline]
    text = "\n".join([value.text, *inline])
    return _join(
        "# A person of the team asks for this",
        quote(cut(text, LONG), delimiter, f"{value.via} by {entry.author.name}"),
    )


SECTIONS: Mapping[str, Callable[[Entry, str], str]] = {
    "repo_map": _repo_map,
    "issue": _issue,
    "requirements": _requirements,
    "design": _design,
    "code": _code,
    "tests": _tests,
    "test_results": _test_results,
    "review": _review,
    "human_note": _human_note,
    "questions": _questions,
    "report": _report,
}
"""Kinds that a role can read, in the order in which they are shown: what changes least comes first."""
