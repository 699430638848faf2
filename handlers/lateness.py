"""Events that come late: days after they happened, when a failed delivery is asked for again."""

from __future__ import annotations

from handlers.ports import RunFacts

CLOCKS_DIFFER_MS = 60_000
"""So far GitHub's clock and the store's may be apart."""


def comes_late(at: int, run: RunFacts) -> bool:
    """Whether something that GitHub dates `at` (ms UTC; 0: it does not say) was meant for a run that is over.

    That is so when it happened before the issue's newest run ended, or, while that is open, before the one in front of
    it ended. What happened while an open run was only about to begin is meant for it.
    """
    over = run.ended_at if run.ended_at is not None else run.after
    return over is not None and 0 < at < over - CLOCKS_DIFFER_MS
