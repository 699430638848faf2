"""The tester: writes tests from the requirements and the design's contracts, before or while the code is written."""

from __future__ import annotations

from pydantic import Field

from agents.board import Tests, Value
from agents.role import Made, Output, Role


class TestsOutput(Output):
    """What the tester says of the tests; the tests themselves are files of the work tree."""

    __test__ = False

    summary: str = Field(min_length=1, description="what the tests check, in a sentence or two")
    notes: str = Field(default="", description="for developer and reviewer: assumptions, what cannot be tested and why")
    covers: tuple[str, ...] = Field(default=(), description="ids of the requirements that the tests decide")

    def to_board(self, made: Made) -> tuple[str, Value]:
        """`tests`, with the tree as the step fixed it."""
        return "tests", Tests(
            summary=self.summary,
            base_sha=made.base_sha,
            tree=made.tree,
            pack=made.pack,
            files=made.files,
            covers=self.covers,
            notes=self.notes,
        )


ROLE = Role(
    name="tester",
    purpose="writes the tests",
    prompt="tester.md.j2",
    reads=("requirements", "repo_map?", "issue?", "design?", "code?", "human_note?"),
    writes=("tests",),
    output=TestsOutput,
    tools=(
        "read_file",
        "list_directory",
        "search_codebase",
        "edit_file",
        "apply_patch",
        "write_file",
        "delete_file",
        "run_tests",
        "show_diff",
    ),
    may_write="tests",
    tier="fast",
    effort="medium",
    max_turns=40,
    max_tokens=24_000,
    seconds=600.0,
    unseen=("design.approach", "design.decisions"),  # a word on the code that knows how it is meant is not independent
)
