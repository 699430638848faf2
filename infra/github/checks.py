"""Check runs of our own App.

Source: GitHub REST, "Check runs".
"""

from __future__ import annotations

from collections.abc import Sequence

from handlers.events import RepoRef
from handlers.ports import Annotation, Button, CheckFacts, CheckState, Refused
from infra.github.client import GitHubClient
from infra.github.issues import fitting
from infra.github.models import CheckRun, Created
from infra.github.wire import Call, path

READ = {"checks": "read", "metadata": "read"}
WRITE = {"checks": "write", "metadata": "read"}
TEXT_LIMIT = 65_535
TITLE_LIMIT = 255
BUTTON_LIMIT = 3
ANNOTATION_LIMIT, MESSAGE_LIMIT = 50, 64_000
LABEL_LIMIT, DESCRIPTION_LIMIT, IDENTIFIER_LIMIT = 20, 40, 20


class GitHubChecks:
    """`handlers.ports.Checks` over GitHub."""

    def __init__(self, client: GitHubClient) -> None:
        self._client = client

    async def find(self, repo: RepoRef, head_sha: str, name: str) -> Sequence[CheckFacts]:
        """Our check runs of this name on this commit, newest first. Raises `GitHubError`."""
        query = {"check_name": name, "app_id": str(self._client.app_id), "filter": "all"}
        call = Call("GET", path("repos", repo.full_name, "commits", head_sha, "check-runs"), query)
        found = await self._client.pages(repo, READ, call, CheckRun, key="check_runs")
        # Anybody's App may use our names; the filters are applied again, since the answer decides about a gate.
        ours = [made for made in found if made.name == name and made.app and made.app.id == self._client.app_id]
        return [_facts(made) for made in sorted(ours, key=lambda made: made.id, reverse=True)]

    async def create(self, repo: RepoRef, state: CheckState) -> int:
        """Returns the new check run's id. Raises `GitHubError`."""
        said = _said(state)
        said["output"] = {**_output(state), "annotations": _annotations(state)}
        body = {"name": state.name, "head_sha": state.head_sha, **said}
        call = Call("POST", path("repos", repo.full_name, "check-runs"), json=body)
        return (await self._client.read(repo, WRITE, call, Created)).id

    async def update(self, repo: RepoRef, check_id: int, state: CheckState) -> None:
        """Raises `GitHubError`."""
        body = {"name": state.name, **_said(state)}
        await self._client.send(
            repo, WRITE, Call("PATCH", path("repos", repo.full_name, "check-runs", check_id), json=body)
        )


def _said(state: CheckState) -> dict[str, object]:
    if len(state.buttons) > BUTTON_LIMIT:
        raise Refused(f"check {state.name} has {len(state.buttons)} buttons; GitHub takes {BUTTON_LIMIT}")
    said: dict[str, object] = {
        "external_id": state.external_id,
        "status": "completed" if state.conclusion else "in_progress",
        "output": _output(state),
        # Sent when empty too: an update without the field leaves old buttons standing.
        "actions": [_button(button) for button in state.buttons],
    }
    if state.conclusion:
        said["conclusion"] = state.conclusion
    if state.details_url:
        said["details_url"] = state.details_url
    return said


def _output(state: CheckState) -> dict[str, object]:
    return {
        "title": fitting(f"the title of check {state.name}", state.title, TITLE_LIMIT),
        "summary": fitting(f"the summary of check {state.name}", state.summary, TEXT_LIMIT),
        "text": fitting(f"the text of check {state.name}", state.text, TEXT_LIMIT),
    }


def _annotations(state: CheckState) -> list[dict[str, object]]:
    """Raises `Refused` for more than GitHub takes at once."""
    if len(state.annotations) > ANNOTATION_LIMIT:
        raise Refused(f"check {state.name} has {len(state.annotations)} annotations; GitHub takes {ANNOTATION_LIMIT}")
    return [_annotation(one) for one in state.annotations]


def _annotation(one: Annotation) -> dict[str, object]:
    return {
        "path": one.path,
        "start_line": one.line,
        "end_line": one.line,
        "annotation_level": one.level,
        "title": fitting("an annotation's title", one.title, TITLE_LIMIT),
        "message": fitting("an annotation's message", one.message, MESSAGE_LIMIT),
    }


def _button(button: Button) -> dict[str, str]:
    return {
        "label": fitting("a button's label", button.label, LABEL_LIMIT),
        "description": fitting("a button's description", button.description, DESCRIPTION_LIMIT),
        "identifier": fitting("a button's identifier", button.identifier, IDENTIFIER_LIMIT),
    }


def _facts(made: CheckRun) -> CheckFacts:
    return CheckFacts(
        id=made.id,
        name=made.name,
        head_sha=made.head_sha,
        external_id=made.external_id or None,
        status=made.status,
        conclusion=made.conclusion,
        title=made.output.title if made.output else None,
    )
