"""The options of `seconder solve`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer


@dataclass(frozen=True)
class Asked:
    """The command line as it was typed."""

    path: Annotated[Path | None, typer.Argument(help="A git repository, or a folder in one.")] = None
    issue: Annotated[Path | None, typer.Argument(help="A text file: the first line is the title.")] = None
    yes: Annotated[bool, typer.Option("--yes", help="Vote yes wherever a vote is needed, and say so.")] = False
    budget: Annotated[float | None, typer.Option(help="Dollars that the team may spend.")] = None
    test_command: Annotated[str | None, typer.Option(help="How tests are run; else found in the repository.")] = None
    env: Annotated[Path | None, typer.Option(help="An environment that the tests need; they see it read-only.")] = None
    max_rounds: Annotated[int | None, typer.Option(help="Rounds of review and repair.")] = None
    resume: Annotated[bool, typer.Option("--resume", help="Go on with an unfinished solve, by its name.")] = False
    state: Annotated[Path | None, typer.Option(help="Where a solve is kept until it ends.")] = None
    keep: Annotated[bool, typer.Option("--keep", help="Keep the solve's folder also at its end.")] = False
    as_json: Annotated[bool, typer.Option("--json", help="For scripts: JSON on standard output.")] = False

    @property
    def settings(self) -> Mapping[str, str | None]:
        """What the options stand for, by the settings' names; None where nothing was given."""
        given = {
            "SECONDER_BUDGET_USD": self.budget,
            "SECONDER_TEST_COMMAND": self.test_command,
            "SECONDER_TOOLCHAIN": self.env,
            "SECONDER_MAX_ROUNDS": self.max_rounds,
        }
        return {name: None if value is None else str(value) for name, value in given.items()}
