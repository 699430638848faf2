"""The pull request's view, from the run's state."""

from __future__ import annotations

from agents.board import Code, Design, Issue, Requirements, Review, TestResults
from handlers.messages.commit import split
from handlers.messages.pull import FileLine, PullView, RequirementLine
from handlers.telling import spending_of, tests_of
from handlers.work import Work


def pull_view(work: Work) -> PullView:
    """What title and body of the pull request show; the newest of everything on the board."""
    board = work.state.board
    issue = board.value("issue", Issue)
    requirements = board.value("requirements", Requirements)
    design = board.value("design", Design)
    code = board.value("code", Code)
    results = board.value("test_results", TestResults)
    review = board.value("review", Review)
    exhausted = work.state.last("visits_exhausted")
    url = work.context.options.public_url
    return PullView(
        number=work.run.issue,
        run=work.run.id,
        requester=work.run.requester.login,
        what=(split(code.summary)[0] if code is not None else "") or _title(issue),
        why=requirements.summary if requirements is not None else "",
        spending=spending_of(work.run, work.state),
        seconds=(work.context.clock.now_ms() - work.run.started_at) / 1000,
        how=design.approach if design is not None else "",
        tests=tests_of(work.state),
        requirements=_requirements(requirements, code),
        decisions=tuple(f"{one.decision}: {one.why}" for one in design.decisions) if design is not None else (),
        limitations=code.limitations if code is not None else (),
        files=_files(results),
        outside=code.outside_design if code is not None else (),
        verdict=review.summary if review is not None else "",
        unfinished="the rounds of review and repair are used up" if exhausted is not None else "",
        page_url=f"{url}/runs/{work.run.id}" if url else None,
    )


def _title(issue: Issue | None) -> str:
    return issue.title if issue is not None else ""


def _requirements(requirements: Requirements | None, code: Code | None) -> tuple[RequirementLine, ...]:
    if requirements is None:
        return ()
    met = set(code.requirement_ids) if code is not None else set()
    return tuple(RequirementLine(one.id, one.text, one.priority, one.id in met) for one in requirements.items)


def _files(results: TestResults | None) -> tuple[FileLine, ...]:
    if results is None:
        return ()
    return tuple(FileLine(change.path, change.additions, change.deletions) for change in results.files)
