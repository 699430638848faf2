"""A model that plays the whole team: by role and round, each round a list of replies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agents.ports import Json, ModelError, ModelRequest, Reply
from tests.fakes.model import calls, replies_so_far

Round = Sequence[Reply | ModelError]

REQUIREMENTS: Json = {
    "decision": "requirements",
    "summary": "Sums can be read by scripts.",
    "items": [{"id": "R1", "text": "sum adds", "priority": "must", "criteria": ["total([1, 2]) == 3"]}],
}
DESIGN: Json = {"approach": "Add total() to calc.", "files_to_touch": ["calc.py", "tests/test_total.py"]}
CODE = "def total(numbers):\n    return sum(numbers)\n"
TEST = "from calc import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"


def submit(**given: object) -> Reply:
    """A role hands in its result."""
    return calls(("submit", dict(given)))


def write(path: str, text: str) -> Reply:
    """A role writes a file."""
    return calls(("write_file", {"path": path, "text": text}))


def plan() -> dict[str, list[Round]]:
    """What the team does where a test says nothing else: everything goes well at once."""
    return {
        "product_manager": [[submit(**REQUIREMENTS)]],
        "architect": [[submit(**DESIGN)]],
        "developer": [[write("calc.py", CODE), submit(summary="Add total.", requirement_ids=["R1"])]],
        "tester": [[write("tests/test_total.py", TEST), submit(summary="Test total.")]],
        "reviewer": [[submit(approved=True, summary="Does what was asked.")]],
    }


class Actors:
    """Answers for `FakeModel`. `plays` is a round by role, the last one for all that follow; `faults` come first.

    `asked` lists the role and round of every call. `problems`: where the play was too short, which a step would retry.
    """

    def __init__(self, plays: Mapping[str, Sequence[Round]] | None = None) -> None:
        self.plays = plan()
        self.plays.update((role, list(rounds)) for role, rounds in (plays or {}).items())
        self.faults: list[ModelError] = []
        self.asked: list[tuple[str, int]] = []
        self.problems: list[str] = []

    def __call__(self, request: ModelRequest) -> Reply | ModelError:
        role, number = role_and_round(request)
        self.asked.append((role, number))
        if self.faults:
            return self.faults.pop(0)
        rounds = self.plays[role]
        replies = rounds[min(number, len(rounds)) - 1]
        turn = replies_so_far(request)
        if turn >= len(replies):
            problem = f"{role}, round {number}: {len(replies)} replies, but turn {turn + 1} was asked for"
            self.problems.append(problem)
            raise AssertionError(problem)
        return replies[turn]


def role_and_round(request: ModelRequest) -> tuple[str, int]:
    """Which role is asked in which round, from the lines that every prompt begins with."""
    role = str(request.system[0]["text"]).splitlines()[0].removeprefix("role: ")
    blocks = request.messages[0]["content"]
    assert isinstance(blocks, list)
    texts = [str(block["text"]) for block in blocks]
    number = next(text.splitlines()[0].removeprefix("round: ") for text in texts if text.startswith("round: "))
    return role, int(number)
