"""Counters in the text format that Prometheus reads.

Source: https://prometheus.io/docs/instrumenting/exposition_formats/.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path


class Counters:
    """Counts since the process started, by name and outcome. Names and outcomes are our own words."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()

    def delivery(self, outcome: str) -> None:
        """One more delivery of GitHub's ended in `outcome`."""
        self._counts["seconder_deliveries_total", outcome] += 1

    def text(self) -> str:
        """All counters, and the resident memory in bytes where the system tells."""
        lines: list[str] = []
        for name in sorted({name for name, _ in self._counts}):
            lines.append(f"# TYPE {name} counter")
            found = sorted((outcome, count) for (known, outcome), count in self._counts.items() if known == name)
            lines += [f'{name}{{outcome="{outcome}"}} {count}' for outcome, count in found]
        statm = Path("/proc/self/statm")
        if statm.exists():
            resident = int(statm.read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
            lines += ["# TYPE process_resident_memory_bytes gauge", f"process_resident_memory_bytes {resident}"]
        return "\n".join(lines) + "\n"
