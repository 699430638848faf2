"""The architect: decides how it will be built, and fixes the contracts that code and tests are written against."""

from __future__ import annotations

from pydantic import Field

from agents.board import Decision, Design, Value
from agents.role import Made, Output, Part, Role


class DecisionItem(Part):
    """One decision and its reason."""

    decision: str
    why: str = Field(description="the reason, and the alternative that was turned down")


class DesignOutput(Output):
    """The design as the model hands it in."""

    approach: str = Field(min_length=1, description="how it will be built, in a short paragraph")
    decisions: tuple[DecisionItem, ...] = Field(default=(), description="only those that somebody could take otherwise")
    contracts: tuple[str, ...] = Field(
        default=(),
        description="exact interfaces: path, signature, inputs and outputs, errors, behaviour in edge cases",
    )
    files_to_touch: tuple[str, ...] = Field(min_length=1, description="paths to change or create, tests included")
    look_at: tuple[str, ...] = Field(default=(), description="passages that the others should read, as path:start-end")
    constraints: tuple[str, ...] = Field(default=(), description="what must stay as it is, and the style to follow")
    risks: tuple[str, ...] = Field(default=(), description="what could go wrong, and how a reviewer would notice")
    monthly_usd: float = Field(
        default=0.0, ge=0, description="new running cost in US dollars a month that it commits; else 0"
    )

    def to_board(self, made: Made) -> tuple[str, Value]:
        """`design`."""
        decisions = tuple(Decision(decision=item.decision, why=item.why) for item in self.decisions)
        return "design", Design(
            approach=self.approach,
            decisions=decisions,
            contracts=self.contracts,
            files_to_touch=self.files_to_touch,
            constraints=self.constraints,
            risks=self.risks,
            monthly_usd=self.monthly_usd,
            look_at=self.look_at,
        )


ROLE = Role(
    name="architect",
    purpose="decides how it will be built",
    prompt="architect.md.j2",
    reads=("requirements", "repo_map", "issue?", "human_note?"),
    writes=("design",),
    output=DesignOutput,
    tools=("read_file", "list_directory", "search_codebase"),
    may_write="nothing",
    tier="strong",
    effort="high",
    max_turns=25,
    max_tokens=16_000,
    seconds=300.0,
)
