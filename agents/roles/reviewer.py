"""The reviewer: holds the change against every requirement and looks for what is wrong with it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from agents.board import Review, ReviewComment, Value
from agents.role import Made, Output, Part, Role


class Comment(Part):
    """One finding."""

    file: str = Field(description="path in the new tree; of a deleted file its old path")
    line: int | None = Field(
        default=None, description="number of a line of the new file, as the diff shows it; null for the whole file"
    )
    severity: Literal["blocker", "major", "minor", "nit"]
    category: Literal["correctness", "security", "tests", "requirements", "design", "performance", "style"]
    message: str = Field(min_length=1, description="what is wrong, what it leads to, and what would be right")
    suggestion: str = Field(
        default="", description="text that replaces exactly that one line, if it is that simple; else empty"
    )


class ReviewOutput(Output):
    """The review as the model hands it in."""

    approved: bool = Field(description="true only if there is no blocker")
    summary: str = Field(
        min_length=1, description="the verdict in two or three sentences, requirement by requirement if short"
    )
    comments: tuple[Comment, ...] = Field(
        default=(), description="findings, the gravest first; empty if there are none"
    )

    @model_validator(mode="after")
    def _consistent(self) -> ReviewOutput:
        blockers = [comment for comment in self.comments if comment.severity == "blocker"]
        if self.approved and blockers:
            raise ValueError("approved is true although there are blockers: approve only with zero blockers")
        if not self.approved and not blockers:
            raise ValueError(
                "approved is false without a blocker: name as a blocker what has to change first, or approve"
            )
        return self

    def to_board(self, made: Made) -> tuple[str, Value]:
        """`review`, of the tree that was shown."""
        comments = tuple(ReviewComment.model_validate(comment.model_dump()) for comment in self.comments)
        return "review", Review(approved=self.approved, summary=self.summary, comments=comments, tree=made.tree)


ROLE = Role(
    name="reviewer",
    purpose="reviews the change",
    prompt="reviewer.md.j2",
    reads=(
        "requirements",
        "code",
        "test_results",
        "repo_map?",
        "issue?",
        "design?",
        "tests?",
        "review?",
        "human_note?",
    ),
    writes=("review",),
    output=ReviewOutput,
    tools=("read_file", "list_directory", "search_codebase", "show_diff", "run_tests"),
    may_write="nothing",
    tier="strong",
    effort="high",
    max_turns=25,
    max_tokens=16_000,
    seconds=300.0,
)
