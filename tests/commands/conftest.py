"""The same worker on fakes as the handlers' tests have."""

from __future__ import annotations

from tests.handlers.conftest import calm_store, team

__all__ = ["calm_store", "team"]
