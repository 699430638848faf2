"""What the pages show, gathered from state and git as plain dicts for the templates."""

from __future__ import annotations

import re

from infra.local_github.git_objects import FileChange, read_commits
from infra.local_github.markdown import render
from infra.local_github.objects_base import association
from infra.local_github.objects_git import account_of
from infra.local_github.pull_state import blockers, changes, facts
from infra.local_github.records import CheckRun, Issue, Json, Pull, Repo
from infra.local_github.world import World

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)")
_SHOWN_LINES = 2_000
_VERBS = {
    "APPROVED": "approved these changes",
    "CHANGES_REQUESTED": "requested changes",
    "COMMENTED": "reviewed",
    "DISMISSED": "left a review, since dismissed",
}
_PASSED = ("success", "neutral", "skipped")


def who(world: World, user_id: int) -> Json:
    """Login, avatar and whether it is a bot."""
    user = world.state.users[user_id]
    return {"login": user.login, "avatar": f"/avatars/{user.id}", "bot": user.type == "Bot"}


def state_of(repo: Repo, issue: Issue) -> tuple[str, str]:
    """Badge text and its class."""
    pull = repo.pulls.get(issue.number)
    if pull and pull.merged_at:
        return "Merged", "merged"
    if issue.state == "closed":
        return "Closed", "closed" if pull or issue.state_reason == "not_planned" else "merged"
    return ("Draft", "draft") if pull and pull.draft else ("Open", "open")


def row(world: World, repo: Repo, issue: Issue) -> Json:
    """One line of a list."""
    text, kind = state_of(repo, issue)
    return {
        "number": issue.number,
        "title": issue.title,
        "state": text,
        "kind": kind,
        "pull": issue.number in repo.pulls,
        "labels": [repo.labels[n] for n in issue.labels if n in repo.labels],
        "author": who(world, issue.user_id),
        "at": issue.created_at,
        "comments": sum(1 for c in repo.comments.values() if c.issue == issue.number),
    }


async def thread(world: World, repo: Repo, issue: Issue) -> Json:
    """An issue's page, with the pull request's part when it is one."""
    pull = repo.pulls.get(issue.number)
    timeline = _comments(world, repo, issue)
    shown = row(world, repo, issue) | {
        "opening": _text(world, repo, issue.user_id, issue.body, "opened") | {"at": issue.created_at},
        "open": issue.state == "open",
    }
    if pull:
        timeline += _reviews(world, repo, pull) + await _commits(world, repo, pull)
        shown |= await _pull_part(world, repo, pull)
    if issue.closed_at:
        verb = "merged this" if pull and pull.merged_at else "closed this"
        by = issue.closed_by if issue.closed_by is not None else issue.user_id
        timeline.append({"type": "note", "who": who(world, by), "verb": verb, "at": issue.closed_at})
    # A commit of the same second comes before what was said about it.
    shown["timeline"] = sorted(timeline, key=lambda item: (item["at"], item["type"] != "commit"))
    return shown


def _text(world: World, repo: Repo, user_id: int, body: str | None, verb: str) -> Json:
    role = association(world, repo, user_id).title()
    return {
        "type": "text",
        "who": who(world, user_id),
        "role": "" if role == "None" else role,
        "html": render(body) if body else "",
        "verb": verb,
    }


def _reactions(repo: Repo, subject: str) -> list[tuple[str, int]]:
    signs = {
        "+1": "👍",
        "-1": "👎",
        "laugh": "😄",
        "confused": "😕",
        "heart": "❤️",
        "hooray": "🎉",
        "rocket": "🚀",
        "eyes": "👀",
    }
    found = [r.content for r in repo.reactions if r.subject == subject]
    return [(signs[c], found.count(c)) for c in dict.fromkeys(found)]


def _comments(world: World, repo: Repo, issue: Issue) -> list[Json]:
    found = [c for c in repo.comments.values() if c.issue == issue.number]
    return [
        _text(world, repo, c.user_id, c.body, "commented")
        | {
            "at": c.created_at,
            "anchor": f"issuecomment-{c.id}",
            "edited": c.updated_at != c.created_at,
            "reactions": _reactions(repo, f"comment:{c.id}"),
        }
        for c in found
    ]


def _reviews(world: World, repo: Repo, pull: Pull) -> list[Json]:
    shown = []
    for review in repo.reviews.values():
        if review.pull != pull.number or review.submitted_at is None:
            continue
        remarks = [c for c in repo.review_comments.values() if c.review_id == review.id]
        item = _text(world, repo, review.user_id, review.body, _VERBS[review.state])
        item |= {
            "at": review.submitted_at,
            "type": "review",
            "kind": review.state.lower(),
            "sha": review.commit_id,
            "anchor": f"pullrequestreview-{review.id}",
            "remarks": [
                {"path": c.path, "line": c.line, "html": render(c.body), "hunk": hunk_lines(c.diff_hunk)[-5:]}
                for c in remarks
            ],
        }
        shown.append(item)
    return shown


async def _commits(world: World, repo: Repo, pull: Pull) -> list[Json]:
    shas = await world.git.between(repo.id, pull.merge_base, pull.head_sha)
    shown = []
    for commit in await read_commits(world.git, repo.id, shas[-250:]):
        user = account_of(world, commit.author)
        shown.append(
            {
                "type": "commit",
                "who": who(world, user.id) if user else {"login": commit.author.name, "avatar": "", "bot": False},
                "sha": commit.sha,
                "title": commit.message.partition("\n")[0],
                "at": commit.committer.date,
            }
        )
    return shown


async def _pull_part(world: World, repo: Repo, pull: Pull) -> Json:
    known = await facts(world, repo, pull)
    files = [_file(change) for change in await changes(world, repo, pull)]
    newest = {(r.app_id, r.name): r for r in repo.checks.values() if r.head_sha == pull.head_sha}
    statuses = {s.context: s for s in repo.statuses if s.sha == pull.head_sha}
    return {
        "head": pull.head_ref,
        "base": pull.base_ref,
        "head_sha": pull.head_sha,
        "draft": pull.draft,
        "facts": known,
        "files": files,
        "checks": [_check(world, run) for run in newest.values()],
        "statuses": list(statuses.values()),
        "reviewers": [who(world, u) for u in pull.requested],
        "blockers": await blockers(world, repo, pull),
    }


def _check(world: World, run: CheckRun) -> Json:
    end = run.conclusion if run.status == "completed" else run.status
    good = "good" if end in _PASSED else "wait" if end in ("action_required", "in_progress", "queued") else "bad"
    return {
        "id": run.id,
        "name": run.name,
        "app": world.state.apps[run.app_id].name,
        "end": (end or "").replace("_", " "),
        "kind": good,
        "title": run.title,
        "summary": render(run.summary) if run.summary else "",
        "text": render(run.text) if run.text else "",
        "actions": run.actions,
    }


def _file(change: FileChange) -> Json:
    lines = hunk_lines(change.patch or "")
    return {
        "path": change.path,
        "previous": change.previous,
        "status": change.status,
        "additions": change.additions,
        "deletions": change.deletions,
        "binary": change.binary,
        "lines": lines[:_SHOWN_LINES],
        "left_out": max(0, len(lines) - _SHOWN_LINES),
    }


def hunk_lines(patch: str) -> list[Json]:
    """A patch as lines with old and new numbers and a class each."""
    shown: list[Json] = []
    old = new = 0
    for text in patch.split("\n") if patch else []:
        header = _HUNK.match(text)
        if header:
            old, new = int(header[1]), int(header[2])
            shown.append({"kind": "hunk", "old": "", "new": "", "text": text})
            continue
        sign = text[:1]
        kind = {"+": "add", "-": "del", "\\": "meta"}.get(sign, "same")
        before, after = old if kind in ("same", "del") else "", new if kind in ("same", "add") else ""
        shown.append({"kind": kind, "old": before, "new": after, "text": text})
        old += kind in ("same", "del")
        new += kind in ("same", "add")
    return shown
