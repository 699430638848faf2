"""Scripts and repositories for the end-to-end tests: a play that goes well; each test changes what it is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from infra.llm.script import Script

Turn = Mapping[str, object]
Turns = Sequence[Turn]

FILES: Mapping[str, str] = {
    "README.md": "# calc\n",
    "calc.py": "def add(a, b):\n    return a - b\n",
    "tests/__init__.py": "",
    "tests/test_zero.py": (
        "import unittest\n\nfrom calc import add\n\n\nclass ZeroTest(unittest.TestCase):\n"
        "    def test_zero(self):\n        self.assertEqual(add(0, 0), 0)\n"
    ),
}
FIXED = "def add(a, b):\n    return a + b\n"
TEST = (
    "import unittest\n\nfrom calc import add\n\n\nclass AddTest(unittest.TestCase):\n"
    "    def test_add(self):\n        self.assertEqual(add(2, 3), 5)\n"
)


def write(path: str, text: str) -> dict[str, object]:
    """A call that writes a file."""
    return {"tool": "write_file", "input": {"path": path, "text": text}}


def requirements(**more: object) -> Turn:
    """The product manager's usual word."""
    item = {"id": "R1", "text": "add adds", "priority": "must", "criteria": ["add(2, 3) == 5"]}
    return {"submit": {"decision": "requirements", "summary": "add has to add", "items": [item], **more}}


def questions(*asked: str) -> Turn:
    """The product manager asks."""
    return {"submit": {"decision": "questions", "questions": list(asked)}}


def nothing(reason: str) -> Turn:
    """The product manager finds nothing to do."""
    return {"submit": {"decision": "nothing_to_do", "reason": reason}}


def design() -> Turn:
    """The architect's usual word."""
    return {"submit": {"approach": "Add instead of subtracting", "files_to_touch": ["calc.py", "tests/test_add.py"]}}


def code(text: str = FIXED, summary: str = "Make add add", path: str = "calc.py") -> Turn:
    """The developer writes one file and hands in."""
    return {"calls": [write(path, text)], "submit": {"summary": summary, "requirement_ids": ["R1"]}}


def checks(text: str = TEST, path: str = "tests/test_add.py") -> Turn:
    """The tester writes one file and hands in."""
    return {"calls": [write(path, text)], "submit": {"summary": "add(2, 3) is 5", "covers": ["R1"]}}


def approval(summary: str = "add adds now") -> Turn:
    """The reviewer agrees."""
    return {"submit": {"approved": True, "summary": summary}}


def rejection(message: str = "say so in the README") -> Turn:
    """The reviewer finds a blocker."""
    comment = {"file": "calc.py", "line": 2, "severity": "blocker", "category": "correctness", "message": message}
    return {"submit": {"approved": False, "summary": "Not yet", "comments": [comment]}}


Rounds = Mapping[int | str, Turns]
USUAL: Mapping[str, Rounds] = {
    "product_manager": {"any": [requirements()]},
    "architect": {"any": [design()]},
    "developer": {
        1: [code()],
        2: [code("# calc\n\n`add(2, 3)` is 5.\n", path="README.md")],
        "any": [code("# calc\n\nIt adds.\n", path="README.md")],
    },
    "tester": {"any": [checks()]},
    "reviewer": {"any": [approval()]},
}


def play(**roles: Rounds | Turns) -> Script:
    """The usual script with some roles played otherwise: by round, or the same turns in every round."""
    parts = {}
    for name, usual in USUAL.items():
        given = roles.get(name, usual)
        rounds = given if isinstance(given, Mapping) else {"any": given}
        parts[name] = [{"round": number, "turns": list(turns)} for number, turns in rounds.items()]
    return Script.model_validate({"script": "an end-to-end test", "roles": parts})
