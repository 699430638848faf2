"""Where a worker meets its end: proxies around the context's ports that strike before or after one call of a verb."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import os
import signal
import time
from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, cast

from agents.ports import ModelRequest
from handlers.context import Context
from handlers.events import Event, RepoRef
from handlers.ports import Bus, Commit, Lease, StoredTurn, Workspace, Workspaces


@dataclass(frozen=True)
class Doom:
    """One call of one verb (`tasks.commit`), the `nth` whose arguments show `about`, and what then happens to the
    process. `about` is looked for in step names, effect keys, outcomes of commits, kinds of turns, roles of requests.
    """

    verb: str
    when: Literal["before", "after"]
    about: str = ""
    nth: int = 1
    signal: int = signal.SIGKILL


class Fate:
    """Counts the calls and strikes once."""

    def __init__(self, doom: Doom) -> None:
        self._doom = doom
        self._seen = 0

    def meets(self, verb: str, arguments: Sequence[object]) -> Literal["before", "after", "never"]:
        """Whether this is the call, and on which side of it to strike."""
        if verb != self._doom.verb or not all(word in _shown(arguments) for word in self._doom.about.split()):
            return "never"
        self._seen += 1
        return self._doom.when if self._seen == self._doom.nth else "never"

    def strike(self) -> None:
        """Kill or freeze this very process."""
        os.kill(os.getpid(), self._doom.signal)


def _shown(arguments: Sequence[object]) -> str:
    words = []
    for one in arguments:
        match one:
            case Lease():
                words.append(one.task)
            case StoredTurn():
                words.append(str(one.data["kind"]))
            case Commit():
                words.append(one.outcome)
            case ModelRequest():
                words.append(str(one.system[0]["text"])[:60])
            case str():
                words.append(one)
            case _:
                pass
    return " ".join(words)


class Port:
    """A port that passes every verb on, and strikes at one."""

    def __init__(self, name: str, port: object, fate: Fate) -> None:
        self._name, self._port, self._fate = name, port, fate

    def __getattr__(self, verb: str) -> Any:
        method = getattr(self._port, verb)
        if not inspect.iscoroutinefunction(method):
            return method

        async def call(*arguments: Any, **named: Any) -> Any:
            side = self._fate.meets(f"{self._name}.{verb}", arguments)
            if side == "before":
                self._fate.strike()
            result = await method(*arguments, **named)
            if side == "after":
                self._fate.strike()
            return result

        return call


class DoomedWorkspaces:
    """`handlers.ports.Workspaces` whose work trees strike."""

    def __init__(self, spaces: Workspaces, fate: Fate) -> None:
        self._spaces, self._fate = spaces, fate
        self.survey = spaces.survey
        self.contents = spaces.contents
        self.compare = spaces.compare

    @contextlib.asynccontextmanager
    async def open(
        self, repo: RepoRef, base_sha: str, tree: str | None, packs: Sequence[bytes]
    ) -> AsyncIterator[Workspace]:
        """A work tree behind a striking proxy."""
        async with self._spaces.open(repo, base_sha, tree, packs) as workspace:
            yield cast(Workspace, Port("workspace", workspace, self._fate))


def doomed(context: Context, fate: Fate) -> Context:
    """The context with every port behind a striking proxy."""

    def all_of(group: Any) -> Any:
        ports = {part.name: Port(part.name, getattr(group, part.name), fate) for part in fields(group)}
        return replace(group, **cast(Any, ports))

    return replace(
        context,
        store=all_of(context.store),
        github=all_of(context.github),
        model=cast(Any, Port("model", context.model, fate)),
        workspaces=DoomedWorkspaces(context.workspaces, fate),
    )


class DoomedBus(Port):
    """The bus behind a striking proxy. It looks for events often instead of letting the store hand them over: else it
    would be chance whether a frozen worker gets what is said meanwhile, or its heir."""

    async def read(
        self, group: str, consumer: str, count: int, block_ms: int, held: Collection[str] = ()
    ) -> Sequence[tuple[str, Event]]:
        """As the bus does."""
        until, read = time.monotonic() + block_ms / 1000, self.__getattr__("read")
        while not (found := await read(group, consumer, count, 1, held)) and time.monotonic() < until:
            await asyncio.sleep(0.02)
        return cast(Sequence[tuple[str, Event]], found)


def doomed_bus(bus: Bus, fate: Fate) -> Bus:
    """The bus behind a striking proxy."""
    return cast(Bus, DoomedBus("bus", bus, fate))
