"""What an entry says, in one line: for the status comment, the terminal and the pages."""

from __future__ import annotations

from agents.board import (
    Code,
    Design,
    Entry,
    Findings,
    HumanNote,
    Issue,
    PullRequest,
    Questions,
    RepoMap,
    Report,
    Requirements,
    Review,
    Summary,
    TestResults,
    Tests,
    Vote,
    value_of,
)


def line_of(entry: Entry) -> str:
    """One plain line, not yet cut or made harmless: whoever posts it does that."""
    line = _LINES.get(entry.kind)
    return line(entry) if line is not None else entry.kind


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def _issue(entry: Entry) -> str:
    value = value_of(entry, Issue)
    return f"#{value.number} {value.title}"


def _repo_map(entry: Entry) -> str:
    value = value_of(entry, RepoMap)
    how = f"tests: {' '.join(value.test_command)}" if value.test_command else "no test command found"
    return f"{_count(value.files, 'file')}; {how}"


def _requirements(entry: Entry) -> str:
    value = value_of(entry, Requirements)
    return f"{_count(len(value.items), 'requirement')}: {value.summary}"


def _questions(entry: Entry) -> str:
    return "asks: " + " / ".join(value_of(entry, Questions).questions)


def _report(entry: Entry) -> str:
    return value_of(entry, Report).text


def _design(entry: Entry) -> str:
    return value_of(entry, Design).approach


def _files(paths: tuple[str, ...]) -> str:
    shown = ", ".join(paths[:3])
    return f"{shown} and {len(paths) - 3} more" if len(paths) > 3 else shown


def _code(entry: Entry) -> str:
    value = value_of(entry, Code)
    return f"{value.summary} ({_files(tuple(change.path for change in value.files))})"


def _tests(entry: Entry) -> str:
    value = value_of(entry, Tests)
    paths = tuple(change.path for change in value.files)
    return f"{value.summary} ({_files(paths)})" if paths else value.summary


def _results(entry: Entry) -> str:
    value = value_of(entry, TestResults)
    match value.outcome:
        case "not_run":
            return f"not run: {value.reason}"
        case "conflict":
            return f"both wrote {_files(tuple(conflict.path for conflict in value.conflicts))}"
        case _:
            counts = [
                f"{n} {word}" for n, word in ((value.passed, "passed"), (value.failed, "failed")) if n is not None
            ]
            counts += [
                f"{len(names)} {word}" for names, word in ((value.known, "known"), (value.flaky, "flaky")) if names
            ]
            return f"{value.outcome}{' (' + ', '.join(counts) + ')' if counts else ''}: {' '.join(value.command)}"


def _review(entry: Entry) -> str:
    value = value_of(entry, Review)
    word = "approves" if value.approved else "asks for changes"
    return f"{word}: {value.summary}"


def _note(entry: Entry) -> str:
    return f"{entry.author.name}: {value_of(entry, HumanNote).text}"


def _pull(entry: Entry) -> str:
    value = value_of(entry, PullRequest)
    return f"#{value.number} {value.action}, head {value.head_sha[:12]}"


def _findings(entry: Entry) -> str:
    found = [item for item in value_of(entry, Findings).items if item.level != "note"]
    if not found:
        return "found nothing that needs a person"
    places = tuple(dict.fromkeys(item.path for item in found))
    return f"{_count(len(found), 'finding')} for people: {_files(places)}"


def _vote(entry: Entry) -> str:
    value = value_of(entry, Vote)
    return f"says {value.word} at the {value.gate} gate, on {value.digest[:12]}"


def _summary(entry: Entry) -> str:
    return value_of(entry, Summary).text


_LINES = {
    "issue": _issue,
    "repo_map": _repo_map,
    "requirements": _requirements,
    "questions": _questions,
    "report": _report,
    "design": _design,
    "code": _code,
    "tests": _tests,
    "test_results": _results,
    "review": _review,
    "human_note": _note,
    "pull_request": _pull,
    "findings": _findings,
    "vote": _vote,
    "summary": _summary,
}
