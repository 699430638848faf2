"""run_linter: the linter that the repository configures, in the sandbox."""

from __future__ import annotations

from pydantic import Field

from agents.ports import CommandReport, Tools
from agents.quoting import cut
from agents.tools.tool import RepoPath, Tool, ToolInput

_OUTPUT = 8_000


class RunLinter(ToolInput):
    """Which files; the changed ones when left out."""

    paths: tuple[RepoPath, ...] = Field(
        default=(), max_length=50, description="files or directories; the changed files if left out"
    )


def report_text(report: CommandReport) -> str:
    """How a command ended, then what it printed."""
    how = f"exit code {report.exit_code}" if report.exit_code is not None else f"stopped: {report.reason}"
    printed = cut(report.output.strip("\n"), _OUTPUT, "narrow it down to see more", tail=_OUTPUT * 2 // 3)
    return f"{how} after {report.seconds:.1f} seconds\n{printed or '(no output)'}"


async def run(tools: Tools, args: RunLinter) -> str:
    """Run it; findings are a result, not an error of the tool."""
    report = await tools.lint(args.paths)
    return f"{' '.join(report.command)}\n{report_text(report)}"


TOOL = Tool(
    name="run_linter",
    description=(
        "Run the linter that the repository configures (ruff, flake8 or eslint) in the sandbox, on the changed files "
        "unless told otherwise. It changes nothing."
    ),
    input=RunLinter,
    run=run,
)
