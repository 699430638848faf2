"""Issues, labels, comments and reactions (GitHub REST: Issues, Reactions)."""

from __future__ import annotations

from infra.local_github import objects_issue
from infra.local_github.api import Answer, Call, Endpoint
from infra.local_github.auth import Needs
from infra.local_github.errors import ApiError, custom, invalid, not_found, unprocessable
from infra.local_github.objects_base import stamp
from infra.local_github.objects_issue import CONTENTS
from infra.local_github.pull_state import close_issue, emit_issue, emit_pull
from infra.local_github.records import ROLES, Comment, Issue, Json, Label, Reaction, Role

_ANY = ("issues", "pull_requests")
READ = Needs(_ANY)
WRITE = Needs(_ANY, "write")
TRIAGE = Needs(_ANY, "write", "triage")
_TITLE_LIMIT = 256


def find_issue(call: Call) -> Issue:
    """The issue (or pull request) in the path."""
    issue = call.repo.issues.get(call.number("number"))
    if issue is None:
        raise not_found()
    return issue


def new_issue(call: Call, resource: str) -> Issue:
    """Number and keep a new issue from the body; shared by issues and pull requests."""
    title, body = call.need("title", resource, _TITLE_LIMIT), call.text("body", resource)
    repo, now = call.repo, call.world.now()
    repo.last_number += 1
    made = Issue(
        id=call.world.new_id(),
        number=repo.last_number,
        title=title,
        body=body,
        user_id=call.user.id,
        app_id=call.app_id,
        created_at=now,
        updated_at=now,
    )
    repo.issues[made.number] = made
    return made


def _may_edit(call: Call, author: int) -> None:
    if call.actor.installation is None and call.user.id != author and not _at_least(call, "triage"):
        raise ApiError(403, "Must have triage access or be the author.")


def _at_least(call: Call, role: Role) -> bool:
    have = call.world.role(call.repo, call.user)
    return have is not None and ROLES.index(have) >= ROLES.index(role)


def _refuse_without_issues(call: Call) -> None:
    if not call.repo.has_issues:
        raise ApiError(410, "Issues are disabled for this repo")


async def create_issue(call: Call) -> Answer:
    _refuse_without_issues(call)
    names = call.strings("labels")
    made = new_issue(call, "Issue")
    able = call.actor.installation is not None or _at_least(call, "triage")
    made.labels = _known_labels(call, names) if able else []
    emit_issue(call, made, "opened")
    for name in made.labels:
        emit_issue(call, made, "labeled", {"label": _label(call, name)})
    return Answer(201, objects_issue.issue(call.world, call.repo, made))


async def get_issue(call: Call) -> Answer:
    return Answer(200, objects_issue.issue(call.world, call.repo, find_issue(call)))


async def list_issues(call: Call) -> Answer:
    _refuse_without_issues(call)
    state, labels = call.query.get("state", "open"), [x for x in call.query.get("labels", "").split(",") if x]
    since, creator = call.query.get("since", ""), call.query.get("creator", "")
    found = [i for i in call.repo.issues.values() if state in ("all", i.state) and set(labels) <= set(i.labels)]
    found = [i for i in found if (stamp(i.updated_at) or "") >= since]
    if creator:
        user = call.world.user(creator)
        found = [i for i in found if user and i.user_id == user.id]
    newest = call.query.get("direction", "desc") == "desc"
    key = call.query.get("sort", "created")
    found.sort(key=lambda i: (i.updated_at if key == "updated" else i.created_at, i.number), reverse=newest)
    return call.page(found, lambda i: objects_issue.issue(call.world, call.repo, i))


async def patch_issue(call: Call) -> Answer:
    made = find_issue(call)
    _may_edit(call, made.user_id)
    state = call.body.get("state")
    if state not in (None, "open", "closed"):
        raise invalid("Issue", "state", value=state)
    changed = edit_text(call, made, "Issue")
    pull = call.repo.pulls.get(made.number)
    if changed and pull:
        await emit_pull(call, pull, "edited", {"changes": changed})
    elif changed:
        emit_issue(call, made, "edited", {"changes": changed})
    if "labels" in call.body:
        await _set_labels(call, made, _known_labels(call, call.strings("labels")))
    if "assignees" in call.body:
        users = [call.world.user(login) for login in call.strings("assignees")]
        made.assignees = [u.id for u in users if u]
    if state == "closed" and made.state == "open":
        await close_issue(call, made, call.text("state_reason", "Issue"))
    elif state == "open" and made.state == "closed":
        await reopen(call, made)
    return Answer(200, objects_issue.issue(call.world, call.repo, made))


def edit_text(call: Call, made: Issue, resource: str) -> Json:
    """Take over title and body; returns what changed, as webhooks say it."""
    title = call.need("title", resource, _TITLE_LIMIT) if "title" in call.body else made.title
    body = call.text("body", resource) if "body" in call.body else made.body
    changes: Json = {}
    if title != made.title:
        changes["title"] = {"from": made.title}
    if body != made.body:
        changes["body"] = {"from": made.body or ""}
    made.title, made.body = title, body
    if changes:
        made.updated_at = call.world.now()
    return changes


async def reopen(call: Call, made: Issue) -> None:
    """Open a closed issue or pull request again and say so."""
    pull = call.repo.pulls.get(made.number)
    if pull and pull.merged_at:
        raise custom("PullRequest", "state cannot be changed. The pull request is merged.")
    if pull and await call.git.ref(call.repo.id, f"refs/heads/{pull.head_ref}") is None:
        raise custom("PullRequest", f"state cannot be changed. The {pull.head_ref} branch has been deleted.")
    made.state, made.closed_at, made.closed_by = "open", None, None
    made.updated_at = call.world.now()
    if pull:
        await emit_pull(call, pull, "reopened")
    else:
        made.state_reason = "reopened"
        emit_issue(call, made, "reopened")


def _label(call: Call, name: str) -> Json:
    return objects_issue.label(call.world, call.repo, call.repo.labels[name])


def _known_labels(call: Call, names: list[str]) -> list[str]:
    """The canonical names of labels, made when missing, as GitHub does; names match in any case."""
    chosen = []
    for name in names:
        if not name.strip() or len(name) > 50:
            raise invalid("Label", "name", value=name)
        known = next((k for k in call.repo.labels if k.lower() == name.lower()), None)
        if known is None:
            known = name
            call.repo.labels[name] = Label(id=call.world.new_id(), name=name)
        if known not in chosen:
            chosen.append(known)
    return chosen


async def _set_labels(call: Call, made: Issue, names: list[str]) -> None:
    old, pull = made.labels, call.repo.pulls.get(made.number)
    made.labels = names
    steps = [("unlabeled", n) for n in old if n not in names] + [("labeled", n) for n in names if n not in old]
    for action, name in steps:
        made.updated_at = call.world.now()
        more = {"label": _label(call, name)}
        if pull:
            await emit_pull(call, pull, action, more)
        else:
            emit_issue(call, made, action, more)


async def list_labels(call: Call) -> Answer:
    return call.page(find_issue(call).labels, lambda name: _label(call, name))


async def add_labels(call: Call) -> Answer:
    made = find_issue(call)
    names = _known_labels(call, call.strings("labels"))
    await _set_labels(call, made, made.labels + [n for n in names if n not in made.labels])
    return Answer(200, [_label(call, name) for name in made.labels])


async def set_labels(call: Call) -> Answer:
    made = find_issue(call)
    await _set_labels(call, made, _known_labels(call, call.strings("labels")))
    return Answer(200, [_label(call, name) for name in made.labels])


async def remove_label(call: Call) -> Answer:
    made = find_issue(call)
    found = [n for n in made.labels if n.lower() == call.params["label"].lower()]
    if not found:
        raise ApiError(404, "Label does not exist")
    await _set_labels(call, made, [n for n in made.labels if n not in found])
    return Answer(200, [_label(call, name) for name in made.labels])


async def repo_labels(call: Call) -> Answer:
    return call.page(list(call.repo.labels), lambda name: _label(call, name))


async def create_label(call: Call) -> Answer:
    name = call.need("name", "Label", 50)
    if any(k.lower() == name.lower() for k in call.repo.labels):
        raise invalid("Label", "name", "already_exists")
    color = (call.text("color", "Label") or "ededed").removeprefix("#")
    made = Label(id=call.world.new_id(), name=name, color=color, description=call.text("description", "Label"))
    call.repo.labels[name] = made
    return Answer(201, _label(call, name))


def _comment_event(call: Call, made: Comment, action: str, more: Json | None = None) -> None:
    issue = objects_issue.issue(call.world, call.repo, call.repo.issues[made.issue])
    shown = objects_issue.comment(call.world, call.repo, made)
    call.emit("issue_comment", action, {"issue": issue, "comment": shown, **(more or {})})


def _find_comment(call: Call) -> Comment:
    made = call.repo.comments.get(call.number("comment_id"))
    if made is None:
        raise not_found()
    return made


async def create_comment(call: Call) -> Answer:
    issue, now = find_issue(call), call.world.now()
    body = call.need("body", "IssueComment")
    if not body.strip():
        raise unprocessable("Body cannot be blank")
    made = Comment(
        id=call.world.new_id(),
        issue=issue.number,
        user_id=call.user.id,
        app_id=call.app_id,
        body=body,
        created_at=now,
        updated_at=now,
    )
    call.repo.comments[made.id] = made
    issue.updated_at = now
    _comment_event(call, made, "created")
    shown = objects_issue.comment(call.world, call.repo, made)
    return Answer(201, shown, {"Location": shown["url"]})


async def list_comments(call: Call) -> Answer:
    number, since = find_issue(call).number, call.query.get("since", "")
    found = [c for c in call.repo.comments.values() if c.issue == number and (stamp(c.updated_at) or "") >= since]
    return call.page(found, lambda c: objects_issue.comment(call.world, call.repo, c))


async def repo_comments(call: Call) -> Answer:
    since = call.query.get("since", "")
    found = [c for c in call.repo.comments.values() if (stamp(c.updated_at) or "") >= since]
    return call.page(found, lambda c: objects_issue.comment(call.world, call.repo, c))


async def get_comment(call: Call) -> Answer:
    return Answer(200, objects_issue.comment(call.world, call.repo, _find_comment(call)))


async def patch_comment(call: Call) -> Answer:
    made, body = _find_comment(call), call.need("body", "IssueComment")
    _may_edit(call, made.user_id)
    old, made.body = made.body, body
    if old != body:
        made.updated_at = call.world.now()
        _comment_event(call, made, "edited", {"changes": {"body": {"from": old}}})
    return Answer(200, objects_issue.comment(call.world, call.repo, made))


async def delete_comment(call: Call) -> Answer:
    made = _find_comment(call)
    _may_edit(call, made.user_id)
    _comment_event(call, made, "deleted")
    del call.repo.comments[made.id]
    call.repo.reactions = [r for r in call.repo.reactions if r.subject != f"comment:{made.id}"]
    return Answer(204)


def _subject(call: Call) -> str:
    if "number" in call.params:
        return f"issue:{find_issue(call).number}"
    if "/pulls/comments/" in call.path:
        if call.number("comment_id") not in call.repo.review_comments:
            raise not_found()
        return f"review_comment:{call.number('comment_id')}"
    return f"comment:{_find_comment(call).id}"


async def create_reaction(call: Call) -> Answer:
    subject, content = _subject(call), call.need("content", "Reaction")
    if content not in CONTENTS:
        raise invalid("Reaction", "content", value=content)
    mine = [r for r in call.repo.reactions if (r.subject, r.user_id, r.content) == (subject, call.user.id, content)]
    if mine:
        return Answer(200, objects_issue.reaction(call.world, mine[0]))
    made = Reaction(
        id=call.world.new_id(), user_id=call.user.id, subject=subject, content=content, created_at=call.world.now()
    )
    call.repo.reactions.append(made)
    return Answer(201, objects_issue.reaction(call.world, made))


async def list_reactions(call: Call) -> Answer:
    subject, content = _subject(call), call.query.get("content")
    found = [r for r in call.repo.reactions if r.subject == subject and content in (None, r.content)]
    return call.page(found, lambda r: objects_issue.reaction(call.world, r))


async def delete_reaction(call: Call) -> Answer:
    subject, number = _subject(call), call.number("reaction_id")
    found = [r for r in call.repo.reactions if r.subject == subject and r.id == number]
    if not found:
        raise not_found()
    if found[0].user_id != call.user.id:
        raise ApiError(403, "Must be the author of the reaction.")
    call.repo.reactions.remove(found[0])
    return Answer(204)


_BASE = "/repos/{owner}/{repo}"
_ISSUE = _BASE + "/issues/{number}"
_COMMENT = _BASE + "/issues/comments/{comment_id}"
_REVIEW_COMMENT = _BASE + "/pulls/comments/{comment_id}"
ENDPOINTS = (
    Endpoint("GET", _BASE + "/issues", list_issues, READ),
    Endpoint("POST", _BASE + "/issues", create_issue, Needs(("issues",), "write")),
    Endpoint("GET", _BASE + "/issues/comments", repo_comments, READ),
    Endpoint("GET", _ISSUE, get_issue, READ),
    Endpoint("PATCH", _ISSUE, patch_issue, WRITE),
    Endpoint("GET", _ISSUE + "/labels", list_labels, READ),
    Endpoint("POST", _ISSUE + "/labels", add_labels, TRIAGE),
    Endpoint("PUT", _ISSUE + "/labels", set_labels, TRIAGE),
    Endpoint("DELETE", _ISSUE + "/labels/{label}", remove_label, TRIAGE),
    Endpoint("GET", _BASE + "/labels", repo_labels, READ),
    Endpoint("POST", _BASE + "/labels", create_label, Needs(_ANY, "write", "write")),
    Endpoint("GET", _ISSUE + "/comments", list_comments, READ),
    Endpoint("POST", _ISSUE + "/comments", create_comment, WRITE),
    Endpoint("GET", _COMMENT, get_comment, READ),
    Endpoint("PATCH", _COMMENT, patch_comment, WRITE),
    Endpoint("DELETE", _COMMENT, delete_comment, WRITE),
    *(
        endpoint
        for base in (_ISSUE, _COMMENT, _REVIEW_COMMENT)
        for endpoint in (
            Endpoint("GET", base + "/reactions", list_reactions, READ),
            Endpoint("POST", base + "/reactions", create_reaction, WRITE),
            Endpoint("DELETE", base + "/reactions/{reaction_id}", delete_reaction, WRITE),
        )
    ),
)
