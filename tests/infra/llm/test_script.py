"""Scripts: what they answer, and how a broken one is explained."""

from __future__ import annotations

from pathlib import Path

import pytest

from infra.llm.script import MissingTurn, Script, ScriptError, load_script, parse_script

GOOD = """\
script: The date bug
latency_s: 0.3
roles:
  developer:
    - round: 1
      turns:
        - say: First.
          calls: [{tool: read_file, input: {path: a.py}}]
        - submit: {summary: Done, files: [a.py], weight: 1.5, note: null}
    - round: any
      turns: [{think: Hm., say: Later.}]
  reviewer:
    - round: 2
      turns: [{say: Only in the second round.}]
"""


@pytest.fixture
def script() -> Script:
    return parse_script(GOOD, "good.yaml")


@pytest.mark.parametrize(
    ("role", "number", "turn", "says"),
    [
        pytest.param("developer", 1, 1, "First.", id="exact-round"),
        pytest.param("developer", 7, 1, "Later.", id="any-round"),
        pytest.param("reviewer", 2, 1, "Only in the second round.", id="other-role"),
    ],
)
def test_turns_are_found(script: Script, role: str, number: int, turn: int, says: str) -> None:
    assert script.turn(role, number, turn).say == says


def test_submit_is_a_call_of_the_tool_submit(script: Script) -> None:
    (call,) = script.turn("developer", 1, 2).all_calls
    assert (call.tool, call.input["summary"]) == ("submit", "Done")


@pytest.mark.parametrize(
    ("role", "number", "turn", "says"),
    [
        pytest.param("tester", 1, 1, "role tester, round 1, turn 1; the script knows developer, reviewer", id="role"),
        pytest.param("reviewer", 1, 1, "role reviewer, round 1, turn 1; the role has round 2", id="round"),
        pytest.param("developer", 1, 3, "role developer, round 1, turn 3; the part has 2 turns", id="turn"),
        pytest.param("developer", 2, 2, "turn 2; the part has 1 turns", id="no-borrowing-from-any"),
    ],
)
def test_what_is_missing_is_named(script: Script, role: str, number: int, turn: int, says: str) -> None:
    with pytest.raises(MissingTurn, match=says):
        script.turn(role, number, turn)


HEAD = "script: T\nroles:\n  developer:\n"
BROKEN = [
    pytest.param("", "a script is a mapping", id="empty"),
    pytest.param("- a\n", "a script is a mapping", id="list"),
    pytest.param("script: [\n", "no valid YAML", id="no-yaml"),
    pytest.param("roles: {a: [{turns: [{say: x}]}]}\n", "script: Field required", id="no-title"),
    pytest.param("script: T\nroles: {}\n", r"line 2: roles: .*at least 1 item", id="no-roles"),
    pytest.param(HEAD + "    turns: []\n", r"line 4: roles\.developer: .*a role is a list of parts", id="role-no-list"),
    pytest.param(
        HEAD + "    - round: 1\n      turns: []\n", r"line 5: roles\.developer\[0\]\.turns: .*at least", id="none"
    ),
    pytest.param(
        HEAD + "    - round: first\n      turns: [{say: x}]\n", r"line 4: .*round: .*'any'", id="round-a-word"
    ),
    pytest.param(
        HEAD + "    - round: 0\n      turns: [{say: x}]\n", r"line 4: .*round: .*greater than", id="round-zero"
    ),
    pytest.param(
        HEAD + "    - turns:\n        - say: x\n        - calls: [{input: {}}]\n",
        r"line 6: roles\.developer\[0\]\.turns\[1\]\.calls\[0\]\.tool: Field required \(a call is \{tool: NAME",
        id="call-without-tool",
    ),
    pytest.param(
        HEAD + "    - turns:\n        - speak: x\n", r"line 5: .*turns\[0\]\.speak: Extra inputs", id="odd-key"
    ),
    pytest.param(
        HEAD + "    - turns:\n        - {}\n", r"line 5: .*the turn is empty .*think, say, calls", id="empty-turn"
    ),
    pytest.param(
        HEAD + "    - turns:\n        - submit: {day: 2026-01-02}\n", r"line 5: .*submit\.day.*JSON", id="unquoted-date"
    ),
    pytest.param(
        HEAD + "    - {round: 1, turns: [{say: x}]}\n    - {round: 1, turns: [{say: y}]}\n",
        "role developer has round 1 twice",
        id="round-twice",
    ),
    pytest.param(
        HEAD + "    - turns: [{say: x}]\n  developer:\n    - turns: [{say: y}]\n",
        "line 5: the key 'developer' stands here twice",
        id="key-twice",
    ),
    pytest.param("script: T\nroles: !!python/object:os.system {}\n", "no valid YAML", id="python-tag"),
    pytest.param('script: "T\\nx: y"\nroles: {a: [{turns: [{say: x}]}]}\n', "line 1: script: .*pattern", id="newline"),
    pytest.param("a: &a [*a]\n", "a: Extra inputs", id="recursive"),
]


@pytest.mark.parametrize(("text", "says"), BROKEN)
def test_a_broken_script_is_explained(text: str, says: str) -> None:
    with pytest.raises(ScriptError, match=says) as caught:
        parse_script(text, "broken.yaml")
    assert str(caught.value).startswith("broken.yaml")


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "good.yaml"
    path.write_text(GOOD)
    assert load_script(path).script == "The date bug"
    with pytest.raises(ScriptError, match=r"nowhere\.yaml: cannot be read"):
        load_script(tmp_path / "nowhere.yaml")
    path.write_bytes(b"script: \xff\n")
    with pytest.raises(ScriptError, match="UTF-8"):
        load_script(path)
