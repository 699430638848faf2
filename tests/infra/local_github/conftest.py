"""Fixtures of the local GitHub's tests."""

from tests.infra.local_github.scene import app_key, scene

__all__ = ["app_key", "scene"]
