"""A small storm, as `make chaos` plays a large one."""

from __future__ import annotations

import os

import pytest

from tests.chaos.__main__ import storm_over
from tests.chaos.judge import Findings
from tests.chaos.storm import Plan


@pytest.mark.skipif(
    "SECONDER_STORM" not in os.environ,
    reason="takes over a minute on a busy machine: set SECONDER_STORM=1, or `make chaos`",
)
@pytest.mark.filterwarnings("ignore::ResourceWarning")
async def test_a_small_storm_loses_and_doubles_nothing() -> None:
    plan = Plan(
        runs=4,
        worker_kills=4,
        server_kills=2,
        freezes=1,
        at_once=4,
        lease_s=3.0,
        settle_s=3.0,
        late_s=1.0,
    )
    result, findings = await storm_over(plan, seed=11)
    assert findings == Findings()
    assert (result.worker_kills, result.server_kills, result.freezes) == (4, 2, 1)
    assert result.longest_recovery_s <= 15.0
