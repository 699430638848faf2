"""What a repository's tests run in: made once per set of packages, in two phases, and then only read.

First, on the host and with none of the repository's code, the packages come in: manifests are read by us, pip gets a
file that we wrote, wheels only, and no way out but the proxy's. Then, in the sandbox and without network, they are
installed. A test run sees the result read-only.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import structlog

from infra.dependencies.found import Tree
from infra.dependencies.indexes import IndexSettings, NoIndex
from infra.dependencies.making import Builder, Made, Unmade
from infra.dependencies.node import NodeMaker, node_plan
from infra.dependencies.plan import PythonPlan, python_plan
from infra.dependencies.python import PythonMaker, here
from infra.dependencies.shelf import About, Busy, Known, Shelf, TooLarge

log = structlog.get_logger("seconder.dependencies")

_YOUNG_S = 7 * 86_400.0
_FAILED_S = 300.0
_PATIENCE_S = 1_800.0
_NODE_KINDS = frozenset({"npm", "configured", "make"})
_PYTHON_KINDS = frozenset({"pytest", "unittest", "configured", "make"})


@dataclass(frozen=True)
class EnvironmentSettings:
    """Where environments are kept, how many bytes one and all together may take, and the package indexes."""

    root: Path
    one_bytes: int = 2 << 30
    all_bytes: int = 10 << 30
    indexes: IndexSettings = field(default_factory=IndexSettings)


@dataclass(frozen=True)
class Provided:
    """What a test run gets. `folders` are environments by kind, `roots` further folders of the tree with packages in.

    `refused` are lines of manifests that were not acted on, `blocked` hosts that were refused. With a `problem`, there
    is no environment, and it says why.
    """

    folders: Mapping[str, Path] = field(default_factory=dict)
    roots: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()
    problem: str = ""


_Make = Callable[[Path, Collection[str]], Awaitable[Made]]


@dataclass(frozen=True)
class _Wish:
    """One environment: its kind, the folder inside it that is shown, what it depends on, how it is made (None: there
    is nothing to make), what is said in any case, and the manifests that ask for it."""

    kind: str
    inside: str
    key: str
    make: _Make | None
    said: Provided
    sources: tuple[str, ...]


class Environments:
    """Environments for test runs, on a shelf that all workers of a machine share."""

    def __init__(self, settings: EnvironmentSettings, builder: Builder) -> None:
        self._shelf = Shelf(settings.root, settings.all_bytes)
        self._python = PythonMaker(builder, settings.indexes, settings.one_bytes)
        self._node = NodeMaker(builder, settings.indexes, settings.one_bytes)
        self._failed: dict[str, tuple[float, Provided]] = {}

    @contextlib.asynccontextmanager
    async def provided(self, kind: str, tree: Tree) -> AsyncIterator[Provided]:
        """The environment for a test command of `kind`, held as long as the context; empty when nothing asks for one.

        What cannot be made is a `problem`, never an error.
        """
        async with contextlib.AsyncExitStack() as stack:
            yield await self._provided(kind, tree, stack)

    async def sweep(self) -> None:
        """Remove what killed processes left. Call it when a worker starts."""
        await asyncio.to_thread(self._shelf.sweep)

    async def _provided(self, kind: str, tree: Tree, stack: contextlib.AsyncExitStack) -> Provided:
        wish = await asyncio.to_thread(self._wish, kind, tree)
        if wish is None:
            return Provided()
        if wish.make is None:
            return wish.said
        failed_at, failure = self._failed.get(wish.key, (0.0, wish.said))
        if failure.problem and time.monotonic() - failed_at < _FAILED_S:
            return failure
        try:
            # Between making and holding, another worker may have made room: then it is made once more.
            for _ in range(2):
                known = await self._made(wish, wish.make)
                folder = await stack.enter_async_context(self._shelf.used(known.digest))
                if folder is not None:
                    refused = (*wish.said.refused, *known.missing)
                    folders = {wish.kind: folder / wish.inside}
                    return replace(wish.said, folders=folders, blocked=known.blocked, refused=refused)
            raise Unmade("there is no room for it: raise SECONDER_ENVIRONMENTS_GB")
        except (Unmade, TooLarge, NoIndex, Busy, OSError) as error:
            blocked = error.blocked if isinstance(error, Unmade) else ()
            failure = replace(wish.said, problem=str(error), blocked=blocked)
            self._failed[wish.key] = (time.monotonic(), failure)
            said = {"manifests": wish.sources, "why": str(error), "blocked": blocked}
            log.warning("environment_failed", key=wish.key[:12], **said)
            return failure

    def _wish(self, kind: str, tree: Tree) -> _Wish | None:
        """What a test command of `kind` needs; None for nothing."""
        plan = python_plan(tree) if kind in _PYTHON_KINDS else None
        if plan is not None:
            return self._python_wish(plan)
        needs = node_plan(tree) if kind in _NODE_KINDS else None
        if needs is None:
            return None
        said = Provided(refused=tuple(str(refusal) for refusal in needs.refused), problem=needs.problem)
        make = None if needs.problem else partial(self._node.make, needs)
        return _Wish("node", "node_modules", self._node.key(needs), make, said, needs.sources)

    def _python_wish(self, plan: PythonPlan) -> _Wish:
        more = (f"and {plan.left_out} more lines",) if plan.left_out else ()
        said = Provided(roots=plan.roots, refused=(*(str(refusal) for refusal in plan.refused), *more))
        problem = plan.python_problem(here()[0])
        if problem is not None:
            return _Wish("python", "", "", None, replace(said, problem=problem), plan.sources)
        is_asked = bool(plan.requirements) or plan.project is not None
        make = partial(self._python.make, plan) if is_asked else None
        return _Wish("python", "", self._python.key(plan), make, said, plan.sources)

    async def _made(self, wish: _Wish, make: _Make) -> Known:
        found = self._shelf.known(wish.key, _YOUNG_S)
        if found is not None:
            return found
        async with self._shelf.alone(wish.key, _PATIENCE_S):
            found = self._shelf.known(wish.key, _YOUNG_S)
            if found is not None:
                return found
            started = time.monotonic()
            workshop = self._shelf.workshop(wish.key)
            try:
                made = await make(workshop, self._shelf.digests())
                if made.files is not None:
                    about = About(made.packages, made.size, time.time())
                    await asyncio.to_thread(self._shelf.keep, made.files, made.digest, about)
            finally:
                await asyncio.to_thread(self._shelf.clear, wish.key)
            known = Known(made.digest, made.blocked, made.missing)
            self._shelf.note(wish.key, known)
        seconds = round(time.monotonic() - started, 1)
        log.info("environment_made", digest=made.digest[:12], packages=len(made.packages), seconds=seconds)
        await asyncio.to_thread(self._shelf.evict, made.digest)
        return known
