"""A package index, and one sandbox that works, or a skip that says why it cannot.

A skip is an error where SECONDER_REQUIRE_SANDBOX=1.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator

import pytest

from infra.sandbox.bubblewrap import Sandbox
from tests.fakes.package_index import PackageIndex, serving


@pytest.fixture(scope="session")
def sandbox() -> Sandbox:
    made = Sandbox()
    problem = asyncio.run(made.unavailable())
    if problem is not None:
        if os.environ.get("SECONDER_REQUIRE_SANDBOX") == "1":
            pytest.fail(f"SECONDER_REQUIRE_SANDBOX=1, but: {problem}")
        pytest.skip(problem)
    return made


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PackageIndex]:
    with serving(tmp_path_factory.mktemp("index")) as running:
        yield running
