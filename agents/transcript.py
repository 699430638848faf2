"""The transcript of a step as the state of its loop: all that the loop wants to know is a fold of the stored turns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast

from agents.clearing import cleared_before, without_results
from agents.ports import Json, Turn
from agents.quoting import quote

SUBMIT = "submit"
CACHE_MARK: Json = {"type": "ephemeral"}
_MOVING_MARKS = 2  # with one on the system prompt and one on the stable prefix: the four that the API allows
_EMPTY_REPLY: Json = {"type": "text", "text": "(no text)"}

NUDGE: Json = {
    "type": "text",
    "text": "You ended your turn without a result. Go on with your tools if work is left; then call `submit`.",
}
CUT: Json = {
    "type": "text",
    "text": "Your reply hit its token limit and was cut. Go on in smaller pieces: fewer calls, shorter texts.",
}
CUT_CALL = "Not run: your reply was cut before it was complete."


@dataclass(frozen=True)
class Call:
    """One tool call of a reply."""

    id: str
    name: str
    given: object

    def result(self, text: str, is_error: bool = False) -> Json:
        """The block that answers the call."""
        block: Json = {"type": "tool_result", "tool_use_id": self.id, "content": text}
        return {**block, "is_error": True} if is_error else block


def text_block(text: str) -> Json:
    """A block of plain text."""
    return {"type": "text", "text": text}


def from_person(words: str, delimiter: str) -> Json:
    """A block with what a person wrote to the step while it worked, as data."""
    return text_block(f"A person of the team wrote to you:\n{quote(words, delimiter, 'person')}")


def calls(content: Iterable[Json]) -> list[Call]:
    """The tool calls among a reply's blocks, in order."""
    return [
        Call(str(block.get("id")), str(block.get("name")), block.get("input"))
        for block in content
        if block.get("type") == "tool_use"
    ]


def said(content: Iterable[Json]) -> str:
    """The plain text of a reply."""
    return "\n".join(str(block.get("text", "")) for block in content if block.get("type") == "text").strip()


def awaits_reply(turns: Sequence[Turn]) -> bool:
    """Whether the model has the word: at the start, after results, and after a reply that it paused itself."""
    if not turns or turns[-1].kind == "results":
        return True
    return turns[-1].stop_reason == "pause_turn" and not calls(turns[-1].content)


def cuts_in_a_row(turns: Sequence[Turn]) -> int:
    """How many of the newest replies hit their token limit, one after the other."""
    count = 0
    for turn in reversed([turn for turn in turns if turn.kind == "reply"]):
        if turn.stop_reason != "max_tokens":
            break
        count += 1
    return count


def idle_replies(turns: Sequence[Turn]) -> int:
    """How many replies ended without any tool call, so also without `submit`."""
    return sum(
        turn.kind == "reply" and turn.stop_reason in ("end_turn", "stop_sequence") and not calls(turn.content)
        for turn in turns
    )


def submissions(turns: Sequence[Turn]) -> list[Call]:
    """Every call of `submit`, replies that were cut left out."""
    return [
        call
        for turn in turns
        if turn.kind == "reply" and turn.stop_reason != "max_tokens"
        for call in calls(turn.content)
        if call.name == SUBMIT
    ]


def messages(first: Json, turns: Sequence[Turn]) -> tuple[Json, ...]:
    """The conversation to send, old tool results of a long one cleared.

    Moving cache marks are on the last block of the two newest user messages: two, because the API looks back a bounded
    number of blocks from a mark for what it has cached (Claude docs: Prompt caching), and one message can hold more
    tool results than that.
    """
    conversation = [first]
    cleared = cleared_before(turns)
    for index, turn in enumerate(turns):
        if turn.kind == "reply":
            conversation.append({"role": "assistant", "content": sendable(turn)})
        else:
            content = without_results(turn.content) if index < cleared else list(turn.content)
            conversation.append({"role": "user", "content": content})
    marked = [index for index, message in enumerate(conversation) if message["role"] == "user"][-_MOVING_MARKS:]
    return tuple(_marked(message) if index in marked else message for index, message in enumerate(conversation))


def _marked(message: Json) -> Json:
    blocks = cast("list[Json]", message["content"])
    return {**message, "content": [*blocks[:-1], {**blocks[-1], "cache_control": CACHE_MARK}]}


def sendable(reply: Turn) -> list[Json]:
    """A reply's blocks as they may be sent back: unchanged, but for an end that the API would refuse.

    A message may not be empty, hold an empty text, or end in thinking, which a reply cut at its limit does.
    """
    blocks = [block for block in reply.content if block.get("type") != "text" or str(block.get("text", "")).strip()]
    if reply.stop_reason == "max_tokens":
        while blocks and blocks[-1].get("type") in ("thinking", "redacted_thinking"):
            blocks.pop()
    if not blocks or blocks[-1].get("type") in ("thinking", "redacted_thinking"):
        blocks.append(_EMPTY_REPLY)
    return blocks
