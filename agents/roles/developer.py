"""The developer: makes the smallest change that fulfils the requirements, in the repository's style."""

from __future__ import annotations

from pydantic import Field

from agents.board import Code, Value
from agents.role import Made, Output, Role


class CodeOutput(Output):
    """What the developer says of the change; the change itself is the work tree."""

    summary: str = Field(
        min_length=1,
        description="a commit message: first line what changes, imperative, at most 72 characters, no full stop; "
        "then a blank line and, in a few sentences, why",
    )
    notes: str = Field(
        default="", description="for the reviewer: choices, what was looked at, answers to each review point"
    )
    limitations: tuple[str, ...] = Field(default=(), description="what is not done or not sure; empty if nothing")
    requirement_ids: tuple[str, ...] = Field(
        default=(), description="ids of the requirements that this change is meant to fulfil"
    )

    def to_board(self, made: Made) -> tuple[str, Value]:
        """`code`, with the tree as the step fixed it."""
        return "code", Code(
            summary=self.summary,
            base_sha=made.base_sha,
            tree=made.tree,
            pack=made.pack,
            files=made.files,
            diff=made.diff,
            notes=self.notes,
            limitations=self.limitations,
            requirement_ids=self.requirement_ids,
            outside_design=made.outside_design,
            includes=made.includes,
        )


ROLE = Role(
    name="developer",
    purpose="writes the code",
    prompt="developer.md.j2",
    reads=("requirements", "repo_map?", "issue?", "design?", "test_results?", "review?", "human_note?"),
    writes=("code",),
    output=CodeOutput,
    tools=(
        "read_file",
        "list_directory",
        "search_codebase",
        "edit_file",
        "apply_patch",
        "write_file",
        "delete_file",
        "shell",
        "run_tests",
        "run_linter",
        "show_diff",
    ),
    may_write="anything",
    tier="standard",
    effort="high",
    max_turns=60,
    max_tokens=32_000,
    seconds=600.0,
)
