"""The product manager: turns an issue into requirements that a test could decide, or asks, or declines."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from agents.board import Questions, Report, Requirement, Requirements, Value
from agents.role import Made, Output, Part, Role

MAX_QUESTIONS = 3


class RequirementItem(Part):
    """One requirement as the model hands it in."""

    id: str = Field(description="R1, R2, … in order")
    text: str = Field(description="one sentence: what is true when the work is done")
    priority: Literal["must", "should", "could"]
    criteria: tuple[str, ...] = Field(description="observable facts that a test can decide; at least one for a must")


class Submission(Output):
    """The product manager's word. Fields that the decision has no use for stay empty."""

    decision: Literal["requirements", "questions", "nothing_to_do"]
    summary: str = Field(default="", description="one or two sentences on what is wanted and why")
    items: tuple[RequirementItem, ...] = Field(default=(), description="the requirements, the most important first")
    affected_files: tuple[str, ...] = Field(default=(), description="existing paths that will probably change")
    out_of_scope: tuple[str, ...] = Field(default=(), description="what a reader might expect but will not be done")
    complexity: Literal["trivial", "small", "medium", "large"] = Field(
        default="small",
        description="trivial: wording or one obvious line; small: one place; medium: several files; large: a redesign",
    )
    questions: tuple[str, ...] = Field(
        default=(), description=f"for decision questions: at most {MAX_QUESTIONS}, each with what you would assume"
    )
    reason: str = Field(default="", description="for decision nothing_to_do: why, with the evidence, for the requester")

    @model_validator(mode="after")
    def _complete(self) -> Submission:
        if self.decision == "requirements":
            self._check_items()
        elif self.decision == "questions" and not 1 <= len(self.questions) <= MAX_QUESTIONS:
            raise ValueError(f"decision is questions, so `questions` needs 1 to {MAX_QUESTIONS} of them")
        elif self.decision == "nothing_to_do" and not self.reason.strip():
            raise ValueError("decision is nothing_to_do, so `reason` must tell the requester why")
        return self

    def _check_items(self) -> None:
        if not self.items or not self.summary.strip():
            raise ValueError("decision is requirements, so `summary` and `items` must not be empty")
        ids = [item.id for item in self.items]
        if len(set(ids)) < len(ids):
            raise ValueError("each requirement needs an id of its own: R1, R2, …")
        vague = [item.id for item in self.items if item.priority == "must" and not item.criteria]
        if vague:
            raise ValueError(f"a must needs at least one criterion that a test can decide: {', '.join(vague)}")

    def to_board(self, made: Made) -> tuple[str, Value]:
        """`requirements`, `questions` or `report`, by the decision."""
        match self.decision:
            case "requirements":
                return "requirements", Requirements(
                    summary=self.summary,
                    items=tuple(Requirement.model_validate(item.model_dump()) for item in self.items),
                    affected_files=self.affected_files,
                    out_of_scope=self.out_of_scope,
                    complexity=self.complexity,
                )
            case "questions":
                return "questions", Questions(questions=self.questions)
            case "nothing_to_do":
                return "report", Report(outcome="declined", text=self.reason)


ROLE = Role(
    name="product_manager",
    purpose="works out what is wanted",
    prompt="product_manager.md.j2",
    reads=("issue", "repo_map", "questions?", "human_note?"),
    writes=("requirements", "questions", "report"),
    output=Submission,
    tools=("read_file", "list_directory", "search_codebase"),
    may_write="nothing",
    tier="strong",
    effort="medium",
    max_turns=20,
    max_tokens=16_000,
    seconds=300.0,
)
