"""What the two people of a stage do on the local GitHub, through its API, as people would on github.com."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import httpx

from bot.local.stage import Stage


class StageError(RuntimeError):
    """Something was refused by the local GitHub, or did not happen; the text says what and why."""


@dataclass(frozen=True)
class PullPage:
    """The pull request as a person sees it. `checks`: name, conclusion, summary."""

    number: int
    title: str
    body: str
    url: str
    head: str
    diff: str
    checks: tuple[tuple[str, str, str], ...]
    merge_sha: str | None


class People:
    """The requester and the maintainer of the stage's repository."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._repo = f"/repos/{stage.play.full_name}"

    async def file_issue(self) -> tuple[int, str]:
        """The requester files the issue; returns its number and page."""
        play = self._stage.play
        made = await self._send(
            self._stage.requester, "POST", f"{self._repo}/issues", {"title": play.title, "body": play.body}
        )
        return int(made["number"]), str(made["html_url"])

    async def issue(self) -> tuple[int, str] | None:
        """Number and page of the issue, where it was filed before."""
        found = await self._send(
            self._stage.requester, "GET", f"{self._repo}/issues?state=all&sort=created&direction=asc"
        )
        issues = [one for one in found if "pull_request" not in one]
        return (int(issues[0]["number"]), str(issues[0]["html_url"])) if issues else None

    async def pull(self, number: int) -> PullPage:
        """The pull request with its diff and checks."""
        who = self._stage.maintainer
        pull = await self._send(who, "GET", f"{self._repo}/pulls/{number}")
        head = str(pull["head"]["sha"])
        runs = await self._send(who, "GET", f"{self._repo}/commits/{head}/check-runs")
        files = await self._send(who, "GET", f"{self._repo}/pulls/{number}/files?per_page=100")
        return PullPage(
            number=number,
            title=str(pull["title"]),
            body=str(pull["body"] or ""),
            url=str(pull["html_url"]),
            head=head,
            diff="\n".join(_patch(one) for one in files),
            checks=tuple(
                (run["name"], run["conclusion"] or run["status"], run["output"]["title"] or "")
                for run in runs["check_runs"]
            ),
            merge_sha=pull.get("merge_commit_sha") if pull.get("merged") else None,
        )

    async def approve(self, number: int) -> None:
        """The maintainer approves the pull request by a review."""
        await self._review(number, {"event": "APPROVE", "body": ""})

    async def request_changes(self, number: int, words: str) -> None:
        """The maintainer requests changes by a review."""
        await self._review(number, {"event": "REQUEST_CHANGES", "body": words})

    async def comment(self, number: int, words: str) -> int:
        """The maintainer comments; returns the comment's id."""
        made = await self._send(
            self._stage.maintainer, "POST", f"{self._repo}/issues/{number}/comments", {"body": words}
        )
        return int(made["id"])

    async def replies(self, number: int, after: int) -> list[str]:
        """Comments of the App on a thread that are newer than a comment's id."""
        found = await self._send(self._stage.maintainer, "GET", f"{self._repo}/issues/{number}/comments?per_page=100")
        return [str(one["body"]) for one in found if one["id"] > after and one["user"]["type"] == "Bot"]

    async def _review(self, number: int, body: dict[str, object]) -> None:
        await self._send(self._stage.maintainer, "POST", f"{self._repo}/pulls/{number}/reviews", body)

    async def _send(self, who: httpx.AsyncClient, method: str, path: str, body: object = None) -> Any:
        answer = await who.request(method, path, json=body)
        if answer.is_error:
            raise StageError(f"{method} {path}: {answer.status_code} {answer.json().get('message', '')}")
        return answer.json()


def _patch(file: dict[str, Any]) -> str:
    """One file of the pull request as a diff with its names."""
    return f"--- {file.get('previous_filename', file['filename'])}\n+++ {file['filename']}\n{file.get('patch', '')}"
