"""The loop: what follows from each reply, what is stored when, and why it stops."""

from __future__ import annotations

from typing import Any, cast

import pytest

from agents.loop import MAX_CUTS, MAX_INVALID, MAX_NUDGES
from agents.ports import Json, Reply, ToolError
from agents.roles.developer import CodeOutput
from agents.stops import Failed, Finished, Refused
from tests.agents.scene import COST, Scene, block, content, reply, submit, text, texts
from tests.fakes.tools import FakeTools

READ = block("c1", "read_file", path="a.py")
EDIT = block("c2", "edit_file", path="a.py", old="x = 1", new="x = 2")
THINKING: Json = {"type": "thinking", "thinking": "hm", "signature": "sig"}


async def test_a_step_from_the_first_call_to_the_result() -> None:
    scene = Scene([reply(THINKING, READ), reply(EDIT), reply(submit())])
    stop = await scene.play()
    assert isinstance(stop, Finished)
    assert stop.output == CodeOutput(summary="Add it.")
    assert (stop.spent.turns, stop.spent.cost, stop.spent.tokens, stop.spent.seconds) == (3, 3 * COST, 3300, 6.0)
    assert [turn.kind for turn in scene.journal.turns] == ["reply", "results", "reply", "results", "reply"]
    assert [turn.tools for turn in scene.journal.turns] == [
        ("read_file",),
        ("read_file",),
        ("edit_file",),
        ("edit_file",),
        ("submit",),
    ]
    assert scene.tools.files == {"a.py": "x = 2\n"}


async def test_the_request_holds_role_tools_and_limits() -> None:
    scene = Scene([reply(submit())])
    await scene.play()
    request = scene.requests[0]
    assert request.system[0]["text"].startswith("role: developer\n")  # type: ignore[attr-defined]
    assert [tool.name for tool in request.tools] == [*scene.role.tools, "submit"]
    assert [tool.name for tool in request.tools if tool.strict] == ["submit"]
    assert (request.max_tokens, request.effort, request.seconds) == (32_000, "high", 600.0)
    assert request.messages[0]["role"] == "user"


async def test_only_changes_fix_the_tree() -> None:
    scene = Scene([reply(READ), reply(EDIT), reply(READ), reply(submit())])
    await scene.play()
    results = [turn for turn in scene.journal.turns if turn.kind == "results"]
    assert [bool(turn.tree) for turn in results] == [False, True, False]
    assert (results[1].tree, results[1].pack) == await scene.tools.fix()


async def test_a_refused_edit_fixes_nothing() -> None:
    scene = Scene([reply(block("c", "edit_file", path="a.py", old="nope", new="y")), reply(submit())])
    await scene.play()
    assert "fix" not in scene.tools.calls


class _UnfixableTools(FakeTools):
    async def fix(self) -> tuple[str, str]:
        raise ToolError("link.py is a symbolic link")


async def test_a_tree_that_cannot_be_kept_is_told_to_the_model() -> None:
    scene = Scene([reply(EDIT), reply(submit())], tools=_UnfixableTools({"a.py": "x = 1\n"}))
    await scene.play()
    assert "cannot be kept as it is: link.py is a symbolic link" in texts(scene.journal.turns[1])
    assert scene.journal.turns[1].tree == ""


async def test_all_results_of_one_reply_go_back_in_one_message_in_order() -> None:
    scene = Scene([reply(block("c9", "list_directory"), READ, block("c3", "nonsense")), reply(submit())])
    await scene.play()
    sent = scene.requests[1].messages
    assert [message["role"] for message in sent] == ["user", "assistant", "user"]
    results = cast("list[dict[str, Any]]", sent[2]["content"])
    assert [(found["tool_use_id"], found.get("is_error", False)) for found in results] == [
        ("c9", False),
        ("c1", False),
        ("c3", True),
    ]
    assert "You have: read_file" in results[2]["content"]


async def test_thinking_goes_back_unchanged() -> None:
    scene = Scene([reply(THINKING, READ), reply(submit())])
    await scene.play()
    assert scene.requests[1].messages[1] == {"role": "assistant", "content": [THINKING, READ]}


# --- Stop reasons


@pytest.mark.parametrize(
    ("answer", "expected", "words"),
    [
        pytest.param(reply(stop="refusal"), Refused, "without a reason", id="refusal with empty content"),
        pytest.param(reply(text("I will not."), stop="refusal"), Refused, "I will not.", id="refusal with words"),
        pytest.param(
            reply(text("…"), stop="model_context_window_exceeded"),
            Failed,
            "context window",
            id="context window exceeded",
        ),
        pytest.param(reply(text("…"), stop="compaction"), Failed, "compaction", id="a reason that is new to us"),
        pytest.param(reply(text("…"), stop=""), Failed, "none given", id="no reason at all"),
    ],
)
async def test_replies_that_end_the_step(answer: Reply, expected: type[Refused | Failed], words: str) -> None:
    scene = Scene([answer])
    stop = await scene.play()
    assert isinstance(stop, expected)
    assert words in stop.reason
    assert stop.spent.cost == COST, "a reply is billed, whatever it is"
    assert len(scene.journal.turns) == 1


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(reply(text("All done!"), stop="end_turn"), id="words"),
        pytest.param(reply(stop="end_turn"), id="nothing at all"),
        pytest.param(reply(text(" "), stop="end_turn"), id="a blank"),
        pytest.param(reply(THINKING, stop="end_turn"), id="only thinking"),
        pytest.param(reply(text("x"), stop="stop_sequence"), id="stop_sequence"),
    ],
)
async def test_a_turn_that_ends_without_submit_is_nudged(answer: Reply) -> None:
    scene = Scene([answer, answer, reply(submit())])
    assert isinstance(await scene.play(), Finished)
    assert "call `submit`" in texts(scene.journal.turns[1])
    last = cast("list[Json]", scene.requests[1].messages[1]["content"])
    assert last, "an assistant message may not be empty"
    assert last[-1]["type"] == "text", "nor end in thinking"
    assert str(last[-1]["text"]).strip()


async def test_nudges_end() -> None:
    stop = await Scene([reply(text("done"), stop="end_turn")] * (MAX_NUDGES + 1)).play()
    assert isinstance(stop, Failed)
    assert "without submitting" in stop.reason


async def test_tool_calls_count_even_if_the_reason_says_end_turn() -> None:
    assert isinstance(await Scene([reply(READ, stop="end_turn"), reply(submit(), stop="end_turn")]).play(), Finished)


async def test_a_paused_reply_is_sent_back_unchanged() -> None:
    paused = reply(text("let me see"), stop="pause_turn")
    scene = Scene([paused, reply(submit())])
    assert isinstance(await scene.play(), Finished)
    assert [turn.kind for turn in scene.journal.turns] == ["reply", "reply"]
    assert scene.requests[1].messages[-1] == {"role": "assistant", "content": [text("let me see")]}


async def test_a_paused_reply_with_calls_of_ours_gets_their_results() -> None:
    scene = Scene([reply(READ, stop="pause_turn"), reply(submit())])
    assert isinstance(await scene.play(), Finished)
    assert [turn.kind for turn in scene.journal.turns] == ["reply", "results", "reply"]


async def test_a_cut_reply_runs_nothing_and_every_call_gets_a_result() -> None:
    half = block("c2", "write_file", path="b.py", text="half of wh")
    scene = Scene([reply(READ, half, stop="max_tokens"), reply(submit())])
    assert isinstance(await scene.play(), Finished)
    assert set(scene.tools.calls) <= {"diff"}
    answered = scene.journal.turns[1]
    assert [found["tool_use_id"] for found in content(answered)] == ["c1", "c2"]
    assert all(found["is_error"] for found in content(answered))
    assert "was cut" in texts(answered)


async def test_a_submission_that_was_cut_is_not_taken() -> None:
    scene = Scene([reply(submit(summary="Half a sen"), stop="max_tokens"), reply(submit(summary="Whole."))])
    stop = await scene.play()
    assert isinstance(stop, Finished)
    assert stop.output == CodeOutput(summary="Whole.")


async def test_a_cut_thought_is_not_sent_back() -> None:
    unsigned: Json = {"type": "thinking", "thinking": "and then I", "signature": ""}
    scene = Scene([reply(text("So:"), unsigned, stop="max_tokens"), reply(submit())])
    await scene.play()
    assert scene.requests[1].messages[1]["content"] == [text("So:")]


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        pytest.param([True] * MAX_CUTS, Finished, id="as often as allowed"),
        pytest.param([True] * (MAX_CUTS + 1), Failed, id="once too often"),
        pytest.param([True, True, False, True, True], Finished, id="not in a row"),
    ],
)
async def test_cut_replies_in_a_row(before: list[bool], expected: type[Finished | Failed]) -> None:
    cut = reply(text("long"), stop="max_tokens")
    assert isinstance(
        await Scene([*(cut if is_cut else reply(READ) for is_cut in before), reply(submit())]).play(), expected
    )


# --- Submitting


@pytest.mark.parametrize(
    ("given", "words"),
    [
        pytest.param({}, "summary", id="nothing in it"),
        pytest.param({"summary": ""}, "summary", id="an empty summary"),
        pytest.param({"summary": "x", "tree": "abc"}, "tree", id="a field that does not exist"),
        pytest.param({"summary": "x", "requirement_ids": "R1"}, "requirement_ids", id="a string for a list"),
    ],
)
async def test_a_submission_that_does_not_fit_is_explained(given: Json, words: str) -> None:
    scene = Scene([reply(block("s1", "submit", **given)), reply(submit())])
    assert isinstance(await scene.play(), Finished)
    result = content(scene.journal.turns[1])[0]
    assert result["is_error"] is True
    assert words in str(result["content"])


async def test_submissions_that_never_fit_end_the_step() -> None:
    bad = reply(block("s1", "submit", summary=""))
    assert isinstance(await Scene([*[bad] * MAX_INVALID, reply(submit())]).play(), Finished)
    stop = await Scene([bad] * (MAX_INVALID + 1)).play()
    assert isinstance(stop, Failed)
    assert "does not fit" in stop.reason


async def test_submissions_that_were_cut_are_not_held_against_the_role() -> None:
    cut = reply(block("s1", "submit"), stop="max_tokens")
    bad = reply(block("s1", "submit", summary=""))
    replies = [*[cut] * MAX_CUTS, *[bad] * MAX_INVALID, reply(submit())]
    assert isinstance(await Scene(replies).play(), Finished)


async def test_calls_beside_submit_run_first() -> None:
    scene = Scene([reply(submit(), EDIT)])
    assert isinstance(await scene.play(), Finished)
    assert scene.tools.files == {"a.py": "x = 2\n"}


async def test_a_developer_who_changed_nothing_is_asked_twice_and_then_believed() -> None:
    scene = Scene([reply(submit())] * 3, tools=FakeTools({"a.py": "x = 1\n"}))
    assert isinstance(await scene.play(), Finished)
    answers = [content(turn)[0] for turn in scene.journal.turns if turn.kind == "results"]
    assert len(answers) == 2
    assert all("no file differs from the base commit" in str(answer["content"]) for answer in answers)


async def test_submit_waits_when_a_call_beside_it_failed() -> None:
    scene = Scene([reply(block("c", "edit_file", path="a.py", old="nope", new="y"), submit()), reply(submit())])
    assert isinstance(await scene.play(), Finished)
    assert "a call beside it failed" in str(content(scene.journal.turns[1])[1]["content"])
