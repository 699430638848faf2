"""What prompts cost: the parts of the board that roles are shown beside all of it, and how much of a long step's input
the prompt cache can serve, by the API's rule on the real requests.

Tokens are estimated at four characters each on both sides, so the shares do not depend on the estimate.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from agents.board import Board, Entry
from agents.ports import Json, ModelRequest
from agents.roles import ROLES
from agents.sections import SECTIONS
from agents.views import build_view
from tests.agents.scene import Scene, block, reply, submit
from tests.fakes.tools import FakeTools

TURNS = 20
LINES = 120
ROUNDS = 5
_AGAIN = ("code", "test_results", "review")
DELIMITER = "d3l1m1t3r0"


def measure() -> dict[str, float]:
    """`cache_read_share`: of all input of a developer's step, what a request shares with the one before it up to one of
    that one's cache marks."""
    requests = asyncio.run(_developer())
    total = read = 0
    before: list[tuple[str, bool]] = []
    for request in requests:
        now = list(_blocks(request))
        total += sum(len(text) for text, _ in now)
        read += _cached(before, now)
        before = now
    return {"cache_read_share": round(read / total, 3)}


async def _developer() -> list[ModelRequest]:
    """A step that reads, edits and tests, and hands in at its end."""
    files = {f"src/m{n}.py": "".join(f"def f{n}_{i}(x):  # line {i}\n" for i in range(LINES)) for n in range(TURNS)}
    replies = [reply(block(f"c{n}", "read_file", path=f"src/m{n}.py")) for n in range(TURNS)]
    scene = Scene((*replies, reply(submit())), tools=FakeTools(files, base={}))
    await scene.play()
    return scene.requests


def _blocks(request: ModelRequest) -> Iterator[tuple[str, bool]]:
    """Every block in the order in which the API caches them: tools, system, messages; and whether it bears a mark."""
    yield json.dumps([(tool.name, tool.description, tool.schema) for tool in request.tools]), False
    contents = [request.system, *(cast("list[Json]", message["content"]) for message in request.messages)]
    for one in (part for content in contents for part in content):
        yield json.dumps({key: value for key, value in one.items() if key != "cache_control"}), "cache_control" in one


def _cached(before: Sequence[tuple[str, bool]], now: Sequence[tuple[str, bool]]) -> int:
    """Characters of `now` up to the last mark of `before` within what both have in common."""
    size = cached = 0
    for (old, marked), (new, _) in zip(before, now, strict=False):
        if old != new:
            break
        size += len(new)
        if marked:
            cached = size
    return cached


def of_board(entries: Sequence[Entry]) -> dict[str, float]:
    """What the roles of a run are shown of the board, by all that stands on it at that time: for a run that uses its
    `ROUNDS` rounds (the second of a real run, over again), and for the real run of two, on a sample of a few lines."""
    return {
        "prompt_tokens_scoped_over_board": _share(_prolonged(entries)),
        "prompt_tokens_scoped_over_board_two_rounds": _share(entries),
    }


def _prolonged(entries: Sequence[Entry]) -> list[Entry]:
    """The entries with the second round, from the developer's second code to the second review, as often as is left."""
    at = {entry.id: place for place, entry in enumerate(entries)}
    first, last = at["code.developer.2"], at["review.reviewer.2"] + 1
    made, before = list(entries[:last]), entries[first:last]
    for number in range(3, ROUNDS + 1):
        names = {one.id: one.id.rpartition(".")[0] + f".{number}" for one in before}
        now = [
            one.model_copy(
                update={
                    "id": names[one.id],
                    "supersedes": one.id,
                    "derived_from": tuple(_newest(name, names, before) for name in one.derived_from),
                }
            )
            for one in before
        ]
        made += now
        before = now
    return made


def _newest(name: str, names: Mapping[str, str], before: Sequence[Entry]) -> str:
    """An input's name in the next round: made in that round, or the round before's where it was the one before's."""
    kind = name.partition(".")[0]
    if name in names:
        return names[name]
    return next((one.id for one in before if one.id.partition(".")[0] == kind and one.kind in _AGAIN), name)


def _share(entries: Sequence[Entry]) -> float:
    roles = {role.name: role for role in ROLES}
    board, known = Board(), dict[str, Entry]()
    scoped = whole = 0
    for entry in entries:
        role = roles.get(entry.author.name)
        if role is not None:
            inputs = [known[name] for name in entry.derived_from if name in known]
            shown = {one.kind: one for one in inputs if one.kind in role.readable}
            if all(kind in shown for kind in role.required):
                view = build_view(role, shown, 1, DELIMITER)
                scoped += len(json.dumps(view.first))
                whole += sum(len(_shown(one)) for one in board.all())
        board.add(entry)
        known[entry.id] = entry
    return round(scoped / whole, 3)


def _shown(entry: Entry) -> str:
    section = SECTIONS.get(entry.kind)
    return json.dumps(section(entry, DELIMITER) if section is not None else entry.value)
