"""Fixtures of this folder."""

from tests.infra.llm.bench import bench, bench_of_module

__all__ = ["bench", "bench_of_module"]
