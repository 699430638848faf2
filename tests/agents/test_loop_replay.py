"""A step that was killed at any instant goes on from its stored turns: same end, nothing stored is paid for again."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.ports import Json, Reply, Turn
from agents.roles.developer import CodeOutput
from agents.stops import Finished
from tests.agents.scene import COST, Scene, block, content, reply, submit, text
from tests.fakes.journal import FakeJournal
from tests.fakes.tools import FakeTools

FILES = {"a.py": "x = 1\ny = 1\n"}
BASE = {"a.py": "x = 0\n"}

CONVERSATION: tuple[Reply, ...] = (
    reply(text("Let me look."), block("c1", "read_file", path="a.py"), block("c2", "list_directory")),
    reply(block("c3", "edit_file", path="a.py", old="x = 1", new="x = 2"), block("c4", "run_tests")),
    reply(text("thinking of it"), stop="pause_turn"),
    reply(text("Done."), stop="end_turn"),
    reply(block("c5", "write_file", path="b.py", text="half"), stop="max_tokens"),
    reply(block("s1", "submit", summary="")),
    reply(block("c6", "write_file", path="b.py", text="z = 1\n"), block("c7", "delete_file", path="a.py")),
    reply(block("c8", "no_such_tool"), submit("s2")),
    reply(submit("s3", summary="Add it.", requirement_ids=["R1"])),
)


def tools_at(turns: tuple[Turn, ...], trees: dict[str, dict[str, str]]) -> FakeTools:
    """The work tree as a step restores it: the tree of the last stored turn that has one, else the first."""
    tree = next((turn.tree for turn in reversed(turns) if turn.tree), "")
    restored = FakeTools(FILES, base=BASE)
    restored.files = dict(trees.get(tree, FILES))
    return restored


class _Recorder(FakeTools):
    """Remembers the files of each tree that it fixed."""

    def __init__(self) -> None:
        super().__init__(FILES, base=BASE)
        self.trees: dict[str, dict[str, str]] = {}

    async def fix(self) -> tuple[str, str]:
        tree, pack = await super().fix()
        self.trees[tree] = dict(self.files)
        return tree, pack


async def test_cut_after_every_stored_turn() -> None:
    tools = _Recorder()
    unbroken = Scene(CONVERSATION, tools=tools)
    stop = await unbroken.play()
    turns = tuple(unbroken.journal.turns)
    assert isinstance(stop, Finished)
    assert stop.output == CodeOutput(summary="Add it.", requirement_ids=("R1",))
    for length in range(len(turns) + 1):
        stored = turns[:length]
        journal = FakeJournal(left=1_000_000, turns=stored)
        scene = Scene(CONVERSATION, turns=stored, journal=journal, tools=tools_at(stored, tools.trees))
        assert await scene.play() == stop, f"after {length} turns"
        assert tuple(journal.turns) == turns, f"after {length} turns the rest of the transcript differs"
        assert scene.tools.files == tools.files, f"after {length} turns the work tree differs"
        paid = sum(turn.kind == "reply" for turn in stored)
        assert scene.requests == unbroken.requests[paid:], f"after {length} turns other calls were made"
        assert journal.left_over == 1_000_000 - COST * (len(CONVERSATION) - paid)


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(reply(stop="refusal"), id="refused"),
        pytest.param(reply(text("…"), stop="model_context_window_exceeded"), id="context window"),
        pytest.param(reply(submit()), id="finished"),
    ],
)
async def test_a_stored_end_is_the_same_end_and_costs_nothing(answer: Reply) -> None:
    first = Scene([answer])
    stop = await first.play()
    again = Scene([], turns=tuple(first.journal.turns))
    assert await again.play() == stop
    assert again.requests == []


async def test_an_interrupted_call_gets_its_result() -> None:
    stored = Turn("reply", CONVERSATION[0].content, "tool_use", cost=COST)
    scene = Scene([reply(), reply(submit())], turns=(stored,), tools=FakeTools(FILES, base=BASE))
    assert isinstance(await scene.play(), Finished)
    assert [found["tool_use_id"] for found in content(scene.journal.turns[1])] == ["c1", "c2"]


BLOCKS = st.sampled_from(
    [
        block("r", "read_file", path="a.py"),
        block("l", "list_directory", path="."),
        block("w", "write_file", path="n.py", text="1\n"),
        block("e", "edit_file", path="a.py", old="y = 1", new="y = 1\ny = 1"),
        block("bad", "read_file", path="../etc/passwd"),
        text("words"),
    ]
)
REPLIES = st.builds(
    lambda blocks, stop: reply(*_unique(blocks), stop=stop),
    st.lists(BLOCKS, max_size=4),
    st.sampled_from(["tool_use", "tool_use", "end_turn", "pause_turn", "max_tokens"]),
)


def _unique(blocks: list[Json]) -> list[Json]:
    return [{**found, "id": f"c{index}"} if "id" in found else found for index, found in enumerate(blocks)]


@given(st.lists(REPLIES, max_size=6))
@settings(max_examples=60, deadline=None)
async def test_whatever_the_model_does_every_call_is_answered_before_the_next(replies: list[Reply]) -> None:
    scene = Scene([*replies, reply(submit()), *[reply(submit())] * 8], tools=FakeTools(FILES, base=BASE))
    await scene.play()
    for turn, following in zip(scene.journal.turns, scene.journal.turns[1:], strict=False):
        asked = [found["id"] for found in turn.content if found["type"] == "tool_use"]
        if turn.kind == "reply" and asked:
            assert [found["tool_use_id"] for found in content(following)] == asked
    for request in scene.requests:
        assert all(message["content"] for message in request.messages)
