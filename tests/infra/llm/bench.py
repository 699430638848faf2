"""One scripted server for a test module; each test gets a clean plan of faults and its own client."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest_asyncio

from infra.llm.faults import Faults
from infra.llm.messages import MessagesModel
from infra.llm.script import parse_script
from infra.llm.scripted import ScriptedModel

SCRIPT = """
script: Test script
roles:
  developer:
    - round: 1
      turns:
        - think: The failing function first.
          say: I read the failing function first, then I decide what to change in it.
          calls: [{tool: read_file, input: {path: src/tally/dates.py, lines: [1, 20], note: null}}]
        - calls:
            - {tool: read_file, input: {path: a.py}}
            - {tool: read_file, input: {path: b.py}}
        - submit: {summary: Month before day, requirement_ids: [R1]}
    - round: 2
      turns: [{say: Second round.}]
  tester:
    - turns: [{say: Any round.}]
"""


@dataclass(frozen=True)
class Bench:
    """A scripted server with its plan of faults, and the real client pointed at it."""

    server: ScriptedModel
    faults: Faults
    model: MessagesModel


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def bench_of_module() -> AsyncIterator[Bench]:
    faults = Faults()
    async with ScriptedModel.serve(parse_script(SCRIPT, "test.yaml"), faults=faults) as server:
        model = MessagesModel(api_key="sk-test", base_url=server.url)
        yield Bench(server, faults, model)
        await model.aclose()


@pytest_asyncio.fixture(loop_scope="module")
async def bench(bench_of_module: Bench) -> Bench:
    bench_of_module.faults.clear()
    bench_of_module.server.seen.clear()
    return bench_of_module
