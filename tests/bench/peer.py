"""LangGraph with its AsyncSqlite saver, in an environment of its own: milliseconds per step of a ring of five nodes.

`python peer.py DATABASE` runs inside `build/bench-venv`; it prints one line of JSON. Each node replaces two entries and
three events in the graph's state, so that the state does not grow. `sync` writes a step's checkpoint before the next
step begins, which is what our commit does; `async`, the library's default, writes it meanwhile.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any, TypedDict

NODES = 5
STEPS = 20
ROUNDS = 12
WORDS = "words and words " * 20


class Board(TypedDict):
    """The graph's state."""

    count: int
    entries: list[dict[str, object]]
    events: list[dict[str, object]]


def _node(number: int) -> Any:
    async def run(state: Board) -> Board:
        step = state["count"] + 1
        entries: list[dict[str, object]] = [{"id": f"e{step}.{n}", "kind": "report", "value": WORDS} for n in range(2)]
        events: list[dict[str, object]] = [{"id": f"v{step}.{n}", "name": f"said_{number}_{n}"} for n in range(3)]
        return {"count": step, "entries": entries, "events": events}

    return run


async def _measure(database: Path, durability: str) -> float:
    """The median over some runs of twenty steps each, in milliseconds per step; the first run warms up."""
    graph_of, sqlite = import_module("langgraph.graph"), import_module("langgraph.checkpoint.sqlite.aio")
    graph = graph_of.StateGraph(Board)
    for number in range(NODES):
        graph.add_node(f"n{number}", _node(number))
    graph.add_edge(graph_of.START, "n0")
    for number in range(NODES - 1):
        graph.add_edge(f"n{number}", f"n{number + 1}")
    graph.add_conditional_edges(f"n{NODES - 1}", lambda state: graph_of.END if state["count"] >= STEPS else "n0")
    times = []
    async with sqlite.AsyncSqliteSaver.from_conn_string(str(database)) as saver:
        compiled = graph.compile(checkpointer=saver)
        for number in range(ROUNDS + 1):
            config = {"configurable": {"thread_id": f"{durability}{number}"}, "recursion_limit": STEPS + 2}
            began = time.perf_counter()
            done = await compiled.ainvoke({"count": 0, "entries": [], "events": []}, config, durability=durability)
            times.append((time.perf_counter() - began) * 1000 / STEPS)
            if done["count"] != STEPS:
                raise RuntimeError(f"the graph ended after {done['count']} steps")
    return statistics.median(times[1:])


async def main(database: Path) -> None:
    """Measure both ways and print them."""
    found = {way: await _measure(database, way) for way in ("sync", "async")}
    print(json.dumps(found))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
