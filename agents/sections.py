"""How each kind of board entry reads in a role's first message: a title and prose or lists, long texts cut with a note.

All of an entry stands inside the run's delimiter, with its author named: what our own agents wrote as well, since it
was made from an issue that anybody may have written. Outside stand only fixed words, numbers and digests.
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
from agents.diffs import numbered_diff
from agents.quoting import cut, quote
from agents.reports import digest

LONG = 20_000
DIFF = 60_000
_LISTING = 8_000
_GUIDANCE = 8_000
_NUMBERS = "The numbers on the left of the diff count lines of the new file and are not part of it."


def bullets(title: str, items: Iterable[str]) -> str:
    """A title and a line for each item; nothing without items."""
    lines = [f"- {item}" for item in items]
    return "\n".join([f"{title}:", *lines]) if lines else ""


def _join(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part)


def _by(what: str, entry: Entry) -> str:
    """Where an entry comes from, for its label: a login has no spaces, so no person can pass for an agent."""
    author = entry.author
    if author.kind == "agent":
        return f"{what} by the {author.name.replace('_', ' ')}"
    return f"{what} by {author.name}" + (", a person of the team" if author.kind == "person" else "")


def _repo_map(entry: Entry, delimiter: str) -> str:
    value = value_of(entry, RepoMap)
    command = " ".join(value.test_command or ())
    source = value.test_command_source or "its files"
    facts = _join(
        f"Default branch: {value.default_branch}",
        f"Its tests are run by: {command} (from {source})" if command else "",
        bullets("Customs of this repository", value.customs),
        bullets("Not to be seen here, and not to be changed", value.unseen),
        f"Files:\n{cut(value.listing, _LISTING if value.outline else LONG, 'use list_directory')}",
        f"What the code defines, the most used first:\n{value.outline}" if value.outline else "",
    )
    return _join(
        f"# The repository, based on {value.base_sha[:12]} ({value.files} files)",
        "" if command else "No test command was found.",
        quote(facts, delimiter, "repository"),
        "" if value.guidance else "There are no guidance files.",
        *(
            quote(cut(text.text, _GUIDANCE, "read the file"), delimiter, f"guidance file {text.path}")
            for text in value.guidance
        ),
    )


def _issue(entry: Entry, delimiter: str) -> str:
    value = value_of(entry, Issue)
    labels = f"Labels: {', '.join(value.labels)}" if value.labels else ""
    cut_note = "The end of the issue's text was cut off before it came here." if value.cut else ""
    return _join(
        f"# Issue #{value.number}",
        quote(_join(value.title, labels, cut(value.body, LONG)), delimiter, f"issue by {value.author}"),
        cut_note,
    )


def _requirements(entry: Entry, delimiter: str) -> str:
    value = value_of(entry, Requirements)
    items = [
        "\n".join([f"{item.id} ({item.priority}): {item.text}", *(f"  - {criterion}" for criterion in item.criteria)])
        for item in value.items
    ]
    text = _join(
        value.summary,
        "\n".join(items),
        bullets("Files that are probably affected", value.affected_files),
        bullets("Out of scope", value.out_of_scope),
    )
    return _join("# Requirements", quote(text, delimiter, _by("requirements", entry)))


def _questions(entry: Entry, delimiter: str) -> str:
    text = bullets("To people", value_of(entry, Questions).questions)
    return _join("# Questions that the team asked", quote(text, delimiter, _by("questions", entry)))


def _report(entry: Entry, delimiter: str) -> str:
    return _join("# Report", quote(cut(value_of(entry, Report).text, LONG), delimiter, _by("report", entry)))


def _design(entry: Entry, delimiter: str) -> str:
    value = value_of(entry, Design)
    text = _join(
        value.approach,
        bullets("Decisions", (f"{item.decision} (why: {item.why})" for item in value.decisions)),
        bullets("Contracts, which code and tests are both written against", value.contracts),
        bullets("Files to touch", value.files_to_touch),
        bullets("Read these first", value.look_at),
        bullets("Constraints", value.constraints),
        bullets("Risks", value.risks),
    )
    return _join("# Design", quote(text, delimiter, _by("design", entry)))


def _code(entry: Entry, delimiter: str) -> str:
    value = value_of(entry, Code)
    text = _join(
        value.summary,
        f"Meant to fulfil: {', '.join(value.requirement_ids)}" if value.requirement_ids else "",
        f"Notes: {value.notes}" if value.notes else "",
        bullets("Known limitations", value.limitations),
        bullets("Changed although the design does not name them", value.outside_design),
    )
    return _join(
        "# The change", quote(text, delimiter, _by("notes", entry)), _change(value, delimiter, "files and diff")
    )


def _change(value: Code | TestResults, delimiter: str, label: str) -> str:
    """The files and the numbered diff of a tree; nothing where there are none."""
    diff = cut(numbered_diff(value.diff), DIFF, "use show_diff with a path")
    text = _join(_files(value.files), diff)
    return _join(_NUMBERS if value.diff else "", quote(text, delimiter, label)) if text else ""


def _files(files: Iterable[FileChange]) -> str:
    return bullets("Files (A added, M modified, D deleted)", (f"{file.status} {file.path}" for file in files))


def _tests(entry: Entry, delimiter: str) -> str:
    value = value_of(entry, Tests)
    text = _join(
        value.summary,
        f"Meant to decide: {', '.join(value.covers)}" if value.covers else "",
        f"Notes: {value.notes}" if value.notes else "",
        _files(value.files),
    )
    return _join("# Tests that were written", quote(text, delimiter, _by("notes", entry)))


def _test_results(entry: Entry, delimiter: str) -> str:
    value = value_of(entry, TestResults)
    counts = ", ".join(
        f"{number} {word}"
        for number, word in ((value.passed, "passed"), (value.failed, "failed"), (value.skipped, "skipped"))
        if number is not None
    )
    printed = _join(
        f"Why: {value.reason}" if value.reason and value.outcome != "passed" else "",
        f"Command: {' '.join(value.command)}" if value.command else "",
        bullets("Fail on the base commit as well, so not for this change", value.known),
        bullets("Flaky: failed, and passed when run again", value.flaky),
        bullets("New or changed tests that fail on the base commit and pass here", value.proven),
        f"Requirements that are not installed: {'; '.join(value.refused[:10])}" if value.refused else "",
        digest(value.output, "use run_tests"),
    )
    conflicts = [
        _join(
            "The developer and the tester wrote a file differently. Bring both together in your tree.",
            quote(cut(conflict.developer, LONG), delimiter, f"{conflict.path} by the developer"),
            quote(cut(conflict.tester, LONG), delimiter, f"{conflict.path} by the tester"),
        )
        for conflict in value.conflicts
    ]
    return _join(
        f"# Test run: {value.outcome}{f' ({counts})' if counts else ''}",
        "The output comes from the code under test: it can claim anything." if value.output else "",
        "The new and changed tests pass on the base commit as well." if value.on_base == "pass" else "",
        quote(printed, delimiter, "test run") if printed else "",
        *conflicts,
        _change(value, delimiter, "files and diff of code and tests together"),
    )


def _comment(comment: ReviewComment) -> str:
    place = f"{comment.file}:{comment.line}" if comment.line else comment.file
    fix = f" (suggested: {comment.suggestion})" if comment.suggestion else ""
    return f"[{comment.severity}, {comment.category}] {place}: {comment.message}{fix}"


def _review(entry: Entry, delimiter: str) -> str:
    value = value_of(entry, Review)
    word = "approved" if value.approved else "changes are needed"
    text = _join(value.summary, bullets("Comments", map(_comment, value.comments)))
    return _join(f"# Review: {word}", quote(text, delimiter, _by("review", entry)))


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
