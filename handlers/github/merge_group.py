"""GitHub's `merge_group`: a merge queue waits for checks on a commit that it made."""

from __future__ import annotations

from handlers.events import MergeGroupRequested
from handlers.github.fields import Envelope, Fields, read
from handlers.github.translation import AppIdentity, Found, Payload


class Group(Fields):
    head_sha: str | None = None
    base_ref: str | None = None


class MergeGroup(Envelope):
    merge_group: Group | None = None


def translate(payload: Payload, app: AppIdentity) -> tuple[Found, ...]:
    """`merge_group_requested`: without our check on its commit, the queue would stand still."""
    given = read(MergeGroup, "merge_group", payload)
    repo, group = given.repo(), given.merge_group
    if given.action != "checks_requested" or repo is None or group is None or not group.head_sha:
        return ()
    base = (group.base_ref or "").removeprefix("refs/heads/")
    return (Found(MergeGroupRequested(repo=repo, sender=given.who(), head=group.head_sha, base_ref=base)),)
