"""A git server, repositories on the host, and a sandbox that works (or a skip that says why it cannot)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from handlers.events import RepoRef
from infra.git.names import remote_for
from infra.git.repositories import Repositories
from infra.sandbox.bubblewrap import Sandbox
from infra.workspace.local import LocalWorkspaces, WorkspaceSettings
from tests.fakes.git_http import GitServer, serving

REPO = RepoRef(id=42, full_name="acme/shop", installation=1)


@pytest.fixture
def repo() -> RepoRef:
    return REPO


@pytest.fixture
def server(tmp_path: Path) -> Iterator[GitServer]:
    with serving(tmp_path / "served") as running:
        yield running


@pytest.fixture
def repositories(tmp_path: Path, server: GitServer) -> Repositories:
    async def token(repo: RepoRef) -> str:
        return ""

    return Repositories(tmp_path / "data" / "git", remote_for(server.url), token)


@pytest.fixture
def workspaces(tmp_path: Path, repositories: Repositories) -> LocalWorkspaces:
    """For tests that run no code: the sandbox is there, but never asked."""
    return LocalWorkspaces(WorkspaceSettings(tmp_path / "data"), repositories, Sandbox())


@pytest.fixture
async def testing_workspaces(workspaces: LocalWorkspaces) -> LocalWorkspaces:
    """For tests that run code under test."""
    problem = await workspaces.sandbox.unavailable()
    if problem is not None:
        if os.environ.get("SECONDER_REQUIRE_SANDBOX") == "1":
            pytest.fail(f"SECONDER_REQUIRE_SANDBOX=1, but: {problem}")
        pytest.skip(problem)
    return workspaces
