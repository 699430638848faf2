"""What a run left behind, in a form that two runs can be compared by: no times, no ids, no names of the test's own."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

from tests.e2e.scene import Scene

_SWAPS = (
    (re.compile(r"\b[0-9a-f]{64}\b"), "<digest>"),
    (re.compile(r"\b[0-9a-f]{40}\b"), "<sha>"),
    (re.compile(r"\b[0-9a-f]{12}\b"), "<short sha>"),
    (re.compile(r"index [0-9a-f]{7,}\.\.[0-9a-f]{7,}"), "index"),
    (re.compile(r"\b\d+-1-1\b"), "<run>"),
    (re.compile(r"in \d+\.\d+s"), "in <time>"),
    (re.compile(r"\b\d+ (?:h \d+ min|min \d+ s|s)\b"), "<time>"),
    (re.compile(r"127\.0\.0\.1:\d+"), "<host>"),
    (re.compile(r"(issuecomment-|pullrequestreview-|#)\d+"), r"\1<id>"),
)


@dataclass(frozen=True)
class Bill:
    """Stored replies by place, model calls by place, and money in micro-dollars."""

    stored: Counter[str]
    asked: Counter[str]
    costs: int
    spent: int
    reserved: int
    unconfirmed: int


def plain(value: Any, case: str) -> Any:
    """JSON without what differs from run to run."""
    text = json.dumps(value, sort_keys=True).replace(case, "<case>")
    for pattern, instead in _SWAPS:
        text = pattern.sub(instead, text)
    return json.loads(text)


async def board(scene: Scene) -> list[Any]:
    """The entries: kind, author, value, how many parents, whether something is replaced."""
    rows = []
    for record in await scene.log():
        if record.type != "entry":
            continue
        entry: dict[str, Any] = {**record.data}
        value = {key: item for key, item in entry["value"].items() if key not in ("seconds", "author_id")}
        author = [entry["author"]["kind"], entry["author"]["name"]]
        rows.append([entry["kind"], author, value, len(entry["derived_from"]), bool(entry.get("supersedes"))])
    return sorted(plain(rows, scene.repo.partition("/")[2]), key=json.dumps)


async def github(scene: Scene) -> dict[str, Any]:
    """What people see: comments, pull request, commits with their trees, checks, reviews, branches, reactions."""
    pull = await scene.pull()
    number, head = pull["number"], pull["head"]["sha"]
    commits = await scene.ask("maintainer", "GET", "/commits?sha=main&per_page=100")
    checks = (await scene.ask("maintainer", "GET", f"/commits/{head}/check-runs?filter=all"))["check_runs"]
    reviews = await scene.ask("maintainer", "GET", f"/pulls/{number}/reviews?per_page=100")
    issue = await scene.ask("maintainer", "GET", f"/issues/{scene.number}")
    tree = await scene.ask("maintainer", "GET", "/git/trees/main?recursive=1")
    said = {
        "statuses": len(await scene.statuses()),
        "replies": await scene.replies(),
        "on the pull request": await scene.ours(number),
        "issue": [issue["state"], issue["comments"]],
        "pulls": len(await scene.pulls()),
        "pull": [pull[key] for key in ("state", "merged", "draft", "title", "body", "commits", "changed_files")],
        "asked": sorted(one["login"] for one in pull["requested_reviewers"]),
        "commits": [
            [row["commit"]["message"], len(row["parents"]), row["commit"]["author"]["name"]] for row in commits
        ],
        "checks": [[row["name"], row["status"], row["conclusion"]] for row in checks],
        "reviews": [[row["user"]["login"], row["state"], row["body"]] for row in reviews],
        "files": sorted([row["path"], row["size"]] for row in tree["tree"] if row["type"] == "blob"),
    }
    return dict(plain(said, scene.repo.partition("/")[2]))


async def events(scene: Scene) -> Counter[str]:
    """How often each event was said."""
    return Counter(await scene.names())


async def bill(scene: Scene) -> Bill:
    """What was paid."""
    replies = [record.data for record in await scene.log() if record.data.get("kind") == "reply"]
    facts = await scene.facts()
    return Bill(
        stored=Counter(f"{row['node']}.{row['visit']}.{row['number']}" for row in replies),
        asked=Counter(f"{s.place.role}.{s.place.round}.{s.place.turn}" for s in scene.model.seen),
        costs=sum(int(str(row["cost"])) for row in replies),
        spent=facts.spent,
        reserved=facts.reserved,
        unconfirmed=facts.unconfirmed,
    )
