"""Check runs, check suites, commit statuses, and the local-only button press (GitHub REST: Checks, Statuses)."""

from __future__ import annotations

from datetime import datetime

from infra.local_github import objects_check
from infra.local_github.api import TEXT_LIMIT, Answer, Call, Endpoint
from infra.local_github.auth import Needs
from infra.local_github.errors import ApiError, invalid, not_found, unprocessable
from infra.local_github.git_objects import read_commit
from infra.local_github.git_store import SHA
from infra.local_github.objects_base import user_by_id
from infra.local_github.objects_git import commit, push_commit
from infra.local_github.records import CheckRun, CheckSuite, Json, Status
from infra.local_github.routes_repos import resolve

READ = Needs(("checks",))
WRITE = Needs(("checks",), "write", "write", "token")
PRESS = Needs(("checks",), "write", "write")
_CONCLUSIONS = ("action_required", "cancelled", "failure", "neutral", "success", "skipped", "timed_out")
_STATUSES = ("queued", "in_progress", "completed", "waiting", "requested", "pending")
_ACTION_LIMITS = (("label", 20), ("description", 40), ("identifier", 20))
_BLANK: Json = {"blob_href": "", "start_column": None, "end_column": None, "title": None, "raw_details": None}
_OUTPUT_LIMIT = TEXT_LIMIT - 1
_WORST_FIRST = ("failure", "timed_out", "action_required", "cancelled", "neutral", "skipped", "success")


def _find(call: Call) -> CheckRun:
    run = call.repo.checks.get(call.number("check_run_id"))
    if run is None:
        raise not_found()
    return run


def _own(call: Call) -> CheckRun:
    run = _find(call)
    if run.app_id != call.app_id:
        why = "check run can only be modified by the GitHub App that created it."
        raise ApiError(403, f"Invalid app_id `{call.app_id}` - {why}")
    return run


async def create_check(call: Call) -> Answer:
    name, head = call.need("name", "CheckRun"), call.need("head_sha", "CheckRun")
    if not SHA.match(head) or await call.git.kind(call.repo.id, head) != "commit":
        raise unprocessable(f"No commit found for SHA: {head}")
    fresh = CheckRun(id=0, app_id=call.app_id or 0, suite_id=0, name=name, head_sha=head)
    run = _changed(call, fresh)
    suite = await _suite(call, head)
    run.id, run.suite_id = call.world.new_id(), suite.id
    run.started_at = run.started_at or call.world.now()
    call.repo.checks[run.id] = run
    _event(call, run, "created")
    if run.status == "completed":
        _event(call, run, "completed")
    await _settle(call, suite)
    return Answer(201, objects_check.check_run(call.world, call.repo, run))


async def _suite(call: Call, head: str) -> CheckSuite:
    app_id, now = call.app_id or 0, call.world.now()
    known = (s for s in call.repo.suites.values() if (s.app_id, s.head_sha) == (app_id, head))
    found = next(known, None)
    if found is None:
        refs = await call.git.refs(call.repo.id, "refs/heads/")
        branch = next((n.removeprefix("refs/heads/") for n, sha in refs.items() if sha == head), None)
        found = CheckSuite(
            id=call.world.new_id(), app_id=app_id, head_sha=head, head_branch=branch, created_at=now, updated_at=now
        )
        call.repo.suites[found.id] = found
    return found


def _changed(call: Call, run: CheckRun) -> CheckRun:
    """A copy of `run` with the body's changes; raises 422 before anything is kept."""
    body, new = call.body, run.model_copy(deep=True)
    if "name" in body:
        new.name = call.need("name", "CheckRun")
    for field in ("external_id", "details_url"):
        if field in body:
            setattr(new, field, call.text(field, "CheckRun"))
    status, conclusion = body.get("status"), body.get("conclusion")
    if status is not None and status not in _STATUSES:
        raise invalid("CheckRun", "status", value=status)
    if conclusion is not None and conclusion not in _CONCLUSIONS:
        raise invalid("CheckRun", "conclusion", value=conclusion)
    if status == "completed" and conclusion is None and run.conclusion is None:
        raise invalid("CheckRun", "conclusion", "missing_field")
    if conclusion is not None:
        new.status, new.conclusion = "completed", conclusion
        new.completed_at = _time(body.get("completed_at")) or call.world.now()
    elif status is not None and status != "completed":
        new.status, new.conclusion, new.completed_at = status, None, None
    new.started_at = _time(body.get("started_at")) or new.started_at
    if "actions" in body:
        new.actions = _actions(body["actions"])
    if body.get("output") is not None:
        _take_output(new, body["output"])
    return new


def _time(given: object) -> datetime | None:
    if given is None:
        return None
    try:
        return datetime.fromisoformat(str(given).replace("Z", "+00:00"))
    except ValueError:
        raise invalid("CheckRun", "completed_at", value=given) from None


def _actions(given: object) -> list[Json]:
    if not isinstance(given, list) or len(given) > 3:
        raise unprocessable("Invalid request.\n\nactions: no more than 3 items are allowed.")
    for action in given:
        for field, limit in _ACTION_LIMITS:
            value = action.get(field) if isinstance(action, dict) else None
            if not isinstance(value, str) or not value or len(value) > limit:
                raise unprocessable(f"Invalid request.\n\nactions: {field} must be text of 1 to {limit} characters.")
    return [{field: action[field] for field, _ in _ACTION_LIMITS} for action in given]


def _take_output(run: CheckRun, output: object) -> None:
    if not isinstance(output, dict):
        raise invalid("CheckRun", "output")
    title, summary = output.get("title", run.title), output.get("summary", run.summary)
    if not title or not summary:
        raise unprocessable("Invalid request.\n\noutput needs a title and a summary.")
    for name, value in (("title", title), ("summary", summary), ("text", output.get("text") or "")):
        limit = 255 if name == "title" else _OUTPUT_LIMIT
        if not isinstance(value, str) or len(value) > limit:
            raise unprocessable(f"Invalid request.\n\noutput.{name}: only {limit} characters are allowed.")
    annotations = output.get("annotations") or []
    if not isinstance(annotations, list) or not all(isinstance(a, dict) for a in annotations):
        raise unprocessable("Invalid request.\n\noutput.annotations must be a list of objects.")
    if len(annotations) > 50:
        raise unprocessable("Invalid request.\n\noutput.annotations: no more than 50 items are allowed.")
    run.title, run.summary, run.text = title, summary, output.get("text", run.text)
    run.annotations += annotations


async def patch_check(call: Call) -> Answer:
    old = _own(call)
    run = _changed(call, old)
    call.repo.checks[run.id] = run
    if run.status == "completed" and (old.status, old.conclusion) != (run.status, run.conclusion):
        _event(call, run, "completed")
    await _settle(call, call.repo.suites[run.suite_id])
    return Answer(200, objects_check.check_run(call.world, call.repo, run))


def _event(call: Call, run: CheckRun, action: str, more: Json | None = None, only_app: int | None = None) -> None:
    shown = objects_check.check_run(call.world, call.repo, run)
    suite = call.repo.suites[run.suite_id]
    shown["check_suite"] = objects_check.check_suite(call.world, call.repo, suite)
    call.emit("check_run", action, {"check_run": shown, **(more or {})}, only_app)


async def _settle(call: Call, suite: CheckSuite) -> None:
    """Work out a suite from its newest runs; say so once all are complete."""
    newest = {r.name: r for r in call.repo.checks.values() if r.suite_id == suite.id}
    was = (suite.status, suite.conclusion)
    suite.updated_at = call.world.now()
    if any(r.status != "completed" for r in newest.values()):
        suite.status, suite.conclusion = "in_progress", None
        return
    ends = {r.conclusion for r in newest.values()}
    suite.status = "completed"
    suite.conclusion = next((c for c in _WORST_FIRST if c in ends), "neutral")
    if was != (suite.status, suite.conclusion):
        shown = objects_check.check_suite(call.world, call.repo, suite)
        shown["head_commit"] = push_commit(
            call.world, call.repo, await read_commit(call.git, call.repo.id, suite.head_sha)
        )
        call.emit("check_suite", "completed", {"check_suite": shown})


async def get_check(call: Call) -> Answer:
    return Answer(200, objects_check.check_run(call.world, call.repo, _find(call)))


async def list_annotations(call: Call) -> Answer:
    return call.page(_find(call).annotations, lambda a: {**_BLANK, **a})


async def list_for_ref(call: Call) -> Answer:
    sha = await resolve(call, call.params["ref"])
    found = [r for r in call.repo.checks.values() if r.head_sha == sha]
    return _listed(call, found)


async def list_for_suite(call: Call) -> Answer:
    suite = call.repo.suites.get(call.number("suite_id"))
    if suite is None:
        raise not_found()
    return _listed(call, [r for r in call.repo.checks.values() if r.suite_id == suite.id])


def _listed(call: Call, found: list[CheckRun]) -> Answer:
    name, app, status = call.query.get("check_name"), call.query.get("app_id"), call.query.get("status")
    found = [r for r in found if name in (None, r.name) and app in (None, str(r.app_id))]
    found = [r for r in found if status in (None, r.status)]
    if call.query.get("filter", "latest") == "latest":
        found = list({(r.app_id, r.name): r for r in found}.values())
    found.sort(key=lambda r: r.id, reverse=True)
    return call.page(found, lambda r: objects_check.check_run(call.world, call.repo, r), wrap="check_runs")


async def rerequest(call: Call) -> Answer:
    run = _find(call)
    suite = call.repo.suites[run.suite_id]
    suite.status, suite.conclusion = "queued", None
    _event(call, run, "rerequested", only_app=run.app_id)
    return Answer(201, {})


async def rerequest_suite(call: Call) -> Answer:
    suite = call.repo.suites.get(call.number("suite_id"))
    if suite is None:
        raise not_found()
    suite.status, suite.conclusion = "queued", None
    shown = objects_check.check_suite(call.world, call.repo, suite)
    call.emit("check_suite", "rerequested", {"check_suite": shown}, suite.app_id)
    return Answer(201, {})


async def press(call: Call) -> Answer:
    """Local only: a person presses one of a check run's buttons (on github.com that is a click in the page)."""
    run, identifier = _find(call), call.need("identifier", "CheckRun")
    if identifier not in [a["identifier"] for a in run.actions]:
        raise unprocessable(f"The check run has no button {identifier!r}.")
    _event(call, run, "requested_action", {"requested_action": {"identifier": identifier}}, run.app_id)
    return Answer(202, {})


async def create_status(call: Call) -> Answer:
    sha, state = await resolve(call, call.params["sha"]), call.need("state", "Status")
    if state not in ("error", "failure", "pending", "success"):
        raise invalid("Status", "state", value=state)
    made = Status(
        id=call.world.new_id(),
        sha=sha,
        state=state,
        context=call.text("context", "Status") or "default",
        description=call.text("description", "Status", limit=140),
        target_url=call.text("target_url", "Status"),
        user_id=call.user.id,
        created_at=call.world.now(),
    )
    call.repo.statuses.append(made)
    shown = objects_check.status(call.world, call.repo, made)
    keys = ("id", "state", "description", "target_url", "context", "created_at", "updated_at")
    refs = await call.git.refs(call.repo.id, "refs/heads/")
    branches = [{"name": n.removeprefix("refs/heads/"), "commit": {"sha": s}} for n, s in refs.items() if s == sha]
    event: Json = {
        "sha": sha,
        "name": call.world.full_name(call.repo),
        "commit": commit(call.world, call.repo, await read_commit(call.git, call.repo.id, sha)),
        "branches": branches,
        **{k: shown[k] for k in keys},
    }
    call.emit("status", None, event)
    return Answer(201, shown | {"creator": user_by_id(call.world, made.user_id)})


async def combined(call: Call) -> Answer:
    return Answer(200, objects_check.combined_status(call.world, call.repo, await resolve(call, call.params["ref"])))


_BASE = "/repos/{owner}/{repo}"
_RUN = _BASE + "/check-runs/{check_run_id}"
ENDPOINTS = (
    Endpoint("POST", _BASE + "/check-runs", create_check, WRITE),
    Endpoint("GET", _RUN, get_check, READ),
    Endpoint("PATCH", _RUN, patch_check, WRITE),
    Endpoint("GET", _RUN + "/annotations", list_annotations, READ),
    Endpoint("POST", _RUN + "/rerequest", rerequest, PRESS),
    Endpoint("POST", _RUN + "/press", press, PRESS),
    Endpoint("GET", _BASE + "/check-suites/{suite_id}/check-runs", list_for_suite, READ),
    Endpoint("POST", _BASE + "/check-suites/{suite_id}/rerequest", rerequest_suite, PRESS),
    Endpoint("GET", _BASE + "/commits/{ref+}/check-runs", list_for_ref, READ),
    Endpoint("GET", _BASE + "/commits/{ref+}/status", combined, Needs(("statuses", "contents"))),
    Endpoint("POST", _BASE + "/statuses/{sha}", create_status, Needs(("statuses",), "write", "write")),
)
