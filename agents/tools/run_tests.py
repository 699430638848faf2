"""run_tests: the repository's tests on the tree as it stands, in the sandbox."""

from __future__ import annotations

from pydantic import Field

from agents.ports import TestReport, Tools
from agents.quoting import cut
from agents.reports import digest
from agents.tools.tool import Tool, ToolInput

_NAMES = 2_000


class RunTests(ToolInput):
    """Which tests; all of them when left out."""

    selection: tuple[str, ...] = Field(
        default=(),
        max_length=20,
        description="files or test ids as the repository's test command takes them, to run only those; all if left out",
    )


def report_text(report: TestReport) -> str:
    """A test report in words: outcome, counts, then what matters of the output."""
    counts = [
        f"{number} {word}"
        for number, word in ((report.passed, "passed"), (report.failed, "failed"), (report.skipped, "skipped"))
        if number is not None
    ]
    lines = [f"outcome: {report.outcome}" + (f" ({', '.join(counts)})" if counts else "")]
    if report.command:
        lines.append(f"command: {' '.join(report.command)}")
    if report.exit_code is not None:
        lines.append(f"exit code: {report.exit_code}")
    if report.reason:
        lines.append(f"reason: {report.reason}")
    for title, names in (
        ("failing", report.blamed),
        ("failing on the base commit as well, so not for this change", report.known),
        ("flaky: failed, and passed when run again", report.flaky),
    ):
        if names:
            lines.append(f"{title}: {cut(', '.join(names), _NAMES, 'they stand in the output')}")
    if report.refused:
        lines.append(f"requirements that are not installed: {'; '.join(report.refused[:10])}")
    if report.outcome != "not_run" or report.output:
        lines.append(f"seconds: {report.seconds:.1f}")
        lines.append("output:")
        lines.append(digest(report.output, "select fewer tests to see more") or "(none)")
    return "\n".join(lines)


async def run(tools: Tools, args: RunTests) -> str:
    """Run them and show the report. Failing tests are a result, not an error of the tool."""
    return report_text(await tools.run_tests(args.selection))


TOOL = Tool(
    name="run_tests",
    description=(
        "Run the repository's tests on a copy of the work tree as it stands, in a sandbox without network. Files that "
        "the tests write are thrown away. Failures are run again to find flaky tests, and looked up on the base commit."
    ),
    input=RunTests,
    run=run,
)
