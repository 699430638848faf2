"""Repositories as files in a dict."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Files:
    """`infra.dependencies.found.Tree` over a dict; a file that is not text reads as None."""

    files: Mapping[str, str | None] = field(default_factory=dict)

    @property
    def paths(self) -> Collection[str]:
        return self.files.keys()

    def read(self, path: str) -> str | None:
        return self.files[path]
