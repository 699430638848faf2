"""What came of the runs: lost, wrong, doubled, paid twice; and how long the dead were missed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from tests.chaos.storm import Storm
from tests.crash import outcome
from tests.e2e.scene import Scene

KINDS = Counter(
    {
        "issue": 1,
        "repo_map": 1,
        "requirements": 1,
        "design": 1,
        "code": 1,
        "tests": 1,
        "test_results": 1,
        "review": 1,
        "findings": 1,
        "pull_request": 2,
        "vote": 2,
        "summary": 1,
    }
)
MESSAGES_ON_MAIN = 3


@dataclass
class Findings:
    """Runs by what is wrong with them; all are empty when all is well."""

    lost: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    duplicated: list[str] = field(default_factory=list)
    paid_twice: list[str] = field(default_factory=list)


async def judge(scene: Scene, findings: Findings) -> None:
    """Look at one finished run."""
    name = scene.repo
    said = await outcome.github(scene)
    findings.wrong += [f"{name}: {text}" for text in await _wrong(scene, said)]
    findings.duplicated += [f"{name}: {text}" for text in await _doubled(scene, said)]
    paid = await outcome.bill(scene)
    twice = [place for place, times in paid.stored.items() if times > 1]
    if twice or paid.spent != paid.costs or paid.reserved:
        findings.paid_twice.append(f"{name}: {twice} spent {paid.spent}, turns cost {paid.costs}, kept {paid.reserved}")


async def _wrong(scene: Scene, said: dict[str, Any]) -> list[str]:
    kinds = Counter(str(record.data["kind"]) for record in await scene.log() if record.type == "entry")
    found = []
    if kinds != KINDS:
        found.append(f"the board holds {dict(kinds)}")
    if said["pull"][:3] != ["closed", True, False] or said["issue"][0] != "closed":
        found.append(f"pull request and issue are {said['pull'][:3]} {said['issue']}")
    if [check[2] for check in said["checks"]] != ["success"] * len(said["checks"]):
        found.append(f"checks say {said['checks']}")
    if await scene.text_of("calc.py", "main") != "def add(a, b):\n    return a + b\n":
        found.append("the change is not on the default branch")
    if said["replies"] or said["on the pull request"]:
        found.append(f"replied {said['replies']} {said['on the pull request']}")
    return found


async def _doubled(scene: Scene, said: dict[str, Any]) -> list[str]:
    by_bot = [review for review in said["reviews"] if review[0] == "seconder[bot]"]
    counts = {
        "status comments": (said["statuses"], 1),
        "pull requests": (said["pulls"], 1),
        "checks": (len(said["checks"]), 2),
        "reviews": (len(by_bot), 1),
        "commits on main": (len(said["commits"]), MESSAGES_ON_MAIN),
        "comments on the issue": (said["issue"][1], 1),
    }
    return [f"{got} {what}" for what, (got, wanted) in counts.items() if got > wanted]


def longest_recovery(storm: Storm) -> float:
    """The longest time from a kill to the next claim of something that the dead worker held, in seconds.

    Where the kill fell into a commit it is not known whether the step was held; those are left out.
    """
    claims = [line for member in storm.crew.members for line in member.diary.lines() if line.what == "claim"]
    longest = 0.0
    for member, died in storm.killed:
        for task in member.diary.held(sure=True):
            later = [line.at for line in claims if line.task == task and line.at > died]
            longest = max(longest, min(later) - died) if later else longest
    return longest
