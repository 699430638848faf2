"""One sandbox that works, or a skip that says why it cannot (an error where SECONDER_REQUIRE_SANDBOX=1)."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from infra.sandbox.bubblewrap import Sandbox


@pytest.fixture(scope="session")
def sandbox() -> Sandbox:
    made = Sandbox()
    problem = asyncio.run(made.unavailable())
    if problem is not None:
        if os.environ.get("SECONDER_REQUIRE_SANDBOX") == "1":
            pytest.fail(f"SECONDER_REQUIRE_SANDBOX=1, but: {problem}")
        pytest.skip(problem)
    return made


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """An empty directory that the sandbox's user can read, below directories that it may not."""
    made = tmp_path / "source"
    made.mkdir()
    made.chmod(0o755)
    return made
