"""A process of your own that joins every run: it reads each new version of the code and puts a note on the board.

    REDIS_URL=redis://localhost:6379/0 .venv/bin/python docs/examples/leftovers.py

It looks for what is left of debugging in the lines that the team added. What matters is how it takes part:

- It reads the bus in a group of its own. Started late it begins with everything that is kept (a day of events, and all
  that the router has not finished); started again it goes on where it stopped.
- It acknowledges an event after it has written, and its entry counts once per cause: killed at any instant it leaves
  nothing out and writes nothing twice. Two of them with different names share the work.
- An event is a hint. The entry that it speaks of is read from the run's log, which is the only record.
- It writes one of the kinds in `agents/board.py`. With a kind that Seconder does not know, the run would wait until it
  is understood. An entry wakes nobody by itself: for that, hand an event to `Word` as well.
- Who can reach the store can write to it: guard its password as you guard the App's key.
"""

from __future__ import annotations

import asyncio
import os

from agents.board import Author, Code, Entry, Report, value_of
from handlers.events import Event
from handlers.ports import Word
from handlers.state import RunState
from infra.store.blobs import RedisBlobs
from infra.store.bus import RedisBus
from infra.store.connection import Address, Scripts, connect
from infra.store.runs import RedisRunLog

GROUP = "leftovers"
WORDS = ("breakpoint()", "set_trace()", "console.log(", "dbg!(")


def leftovers(diff: str) -> list[str]:
    """The added lines of a unified diff that somebody debugged with."""
    added = [line[1:].strip() for line in diff.splitlines() if line.startswith("+") and not line.startswith("+++ ")]
    return [line for line in added if any(word in line for word in WORDS)]


async def note(runs: RedisRunLog, event: Event) -> None:
    """Write what was found in the code that the event speaks of. Raises `LogUnreadable`, `StoreDown`."""
    run = event.run or ""
    state = RunState().feed(await runs.read(run, 0), run)
    code = state.board.get(str(event.data["entry"]))
    if code is None or code.kind != "code":
        return
    found = leftovers(value_of(code, Code).diff)
    text = "Left over:\n" + "\n".join(found) if found else "Nothing is left over."
    entry = Entry(
        id=f"report.{GROUP}.{code.id}",
        kind="report",
        value=Report(outcome="note", text=text).model_dump(mode="json"),
        author=Author(kind="system", name=GROUP),
        derived_from=(code.id,),
        at=event.at,
    )
    written = await runs.vote(run, Word(cause=f"{GROUP}:{event.id}", entries=(entry,)))
    print(f"{run}: {text.splitlines()[0]}" if written else f"{run}: known already, or over", flush=True)


async def main(url: str, name: str) -> None:
    """Follow the bus for ever; `name` is this process's own, the same after a restart."""
    client = connect(Address(url=url))
    scripts = Scripts(client)
    bus, runs = RedisBus(scripts), RedisRunLog(scripts, RedisBlobs(scripts))
    print("listening", flush=True)
    while True:
        for stream_id, event in await bus.read(GROUP, name, count=20, block_ms=1_000):
            if event.name == "code_updated":
                await note(runs, event)
            await bus.ack(GROUP, [stream_id])


if __name__ == "__main__":
    asyncio.run(main(os.environ["REDIS_URL"], os.environ.get("NAME", "leftovers-1")))
