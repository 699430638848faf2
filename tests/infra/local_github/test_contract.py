"""Every endpoint, driven by the real githubkit client: each answer must parse with githubkit's models."""

from __future__ import annotations

import base64
from typing import Any
from urllib.parse import urlsplit

from infra.local_github.api import compiled
from infra.local_github.server import ENDPOINTS
from tests.infra.local_github.scene import Scene

OWNER, REPO = "acme", "shop"
# Not in GitHub's REST API, or the same handler as another line.
EXEMPT = {
    "POST /graphql",
    "POST /repos/{owner}/{repo}/check-runs/{check_run_id}/press",
    "GET /repos/{owner}/{repo}/contents",
    "GET /user",
}


class Walk:
    """Checks answers and remembers which endpoints gave them."""

    def __init__(self) -> None:
        self.seen: set[str] = set()

    async def __call__(self, reply: Any) -> Any:
        """Parse an answer with githubkit's model; returns the model, or None where there is no content."""
        answer = await reply
        request = answer.raw_request
        path = urlsplit(str(request.url)).path.removeprefix("/api/v3")
        match = next(e for e in ENDPOINTS if e.method == request.method and compiled(e.path).fullmatch(path))
        self.seen.add(f"{match.method} {match.path}")
        assert int(answer.headers["x-ratelimit-remaining"]) < int(answer.headers["x-ratelimit-limit"])
        return None if answer.status_code in (204, 202) else answer.parsed_data


async def test_every_answer_parses_with_githubkit(scene: Scene) -> None:
    walk = Walk()
    async with scene.installed() as bot, scene.person("ada") as ada, scene.person("bob") as bob:
        await _accounts(walk, scene, bot.rest)
        head = await _git(walk, bot.rest)
        await _files(walk, bot.rest)
        await _issues(walk, bot.rest)
        await _rules(walk, bot.rest)
        await _teams(walk, scene, bot.rest)
        number = await _pulls(walk, bot.rest, head)
        await _reviews(walk, bot.rest, bob.rest, number)
        await _checks(walk, bot.rest, head)
        await walk(bot.rest.repos.async_delete_branch_protection(OWNER, REPO, "main"))
        await walk(ada.rest.pulls.async_merge(OWNER, REPO, number, data={"sha": head}))
        await walk(bot.rest.pulls.async_check_if_merged(OWNER, REPO, number))
        await walk(bot.rest.git.async_delete_ref(OWNER, REPO, "heads/feature"))
        await walk(bot.rest.apps.async_revoke_installation_access_token())
    served = {f"{e.method} {e.path}" for e in ENDPOINTS}
    assert served - walk.seen == EXEMPT


async def _accounts(walk: Walk, scene: Scene, rest: Any) -> None:
    g = scene.installed()
    async with g.with_auth(g.auth.as_app()) as client:
        app: Any = client.rest.apps
        assert (await walk(app.async_get_authenticated())).slug == "seconder"
        assert len(await walk(app.async_list_installations())) == 1
        assert (await walk(app.async_get_repo_installation(OWNER, REPO))).id == scene.installation.id
        await walk(app.async_get_installation(scene.installation.id))
        data = {"repository_ids": [scene.repo.id], "permissions": {"issues": "read"}}
        token = await walk(app.async_create_installation_access_token(scene.installation.id, data=data))
        assert token.token.startswith("ghs_")
        scene.gh.world.set_webhook("seconder", f"{scene.gh.url}/nowhere", "secret")
        await scene.gh.act("ada", "POST", f"/repos/{OWNER}/{REPO}/issues", {"title": "for the hook"})
        await scene.gh.webhooks_idle()
        first = (await walk(app.async_list_webhook_deliveries(status="failure")))[0]
        await walk(app.async_get_webhook_delivery(first.id))
        await walk(app.async_redeliver_webhook_delivery(first.id))
        await walk(app.async_get_webhook_config_for_app())
        scene.gh.world.app("seconder").webhook_url = None  # type: ignore[union-attr]
    assert (await walk(rest.users.async_get_by_username("seconder[bot]"))).type == "Bot"
    await walk(rest.users.async_get_by_id(scene.repo.owner_id))
    await walk(rest.rate_limit.async_get())
    await walk(rest.apps.async_list_repos_accessible_to_installation())
    assert (await walk(rest.repos.async_get(OWNER, REPO))).default_branch == "main"
    assert (await walk(rest.repos.async_get_collaborator_permission_level(OWNER, REPO, "ada"))).role_name == "admin"
    assert len(await walk(rest.repos.async_list_collaborators(OWNER, REPO))) == 2
    await walk(rest.repos.async_check_collaborator(OWNER, REPO, "ada"))


async def _git(walk: Walk, rest: Any) -> str:
    main = (await walk(rest.git.async_get_ref(OWNER, REPO, "heads/main"))).object_.sha
    await walk(rest.git.async_list_matching_refs(OWNER, REPO, "heads/"))
    blob = await walk(rest.git.async_create_blob(OWNER, REPO, data={"content": "aGk=", "encoding": "base64"}))
    await walk(rest.git.async_get_blob(OWNER, REPO, blob.sha))
    items = [
        {"path": "hi.txt", "mode": "100755", "type": "blob", "sha": blob.sha},
        {"path": "src/shop.py", "mode": "100644", "type": "blob", "content": "line_1 = 2\n"},
        {"path": "README.md", "mode": "100644", "type": "blob", "sha": None},
    ]
    tree = await walk(rest.git.async_create_tree(OWNER, REPO, data={"base_tree": main, "tree": items}))
    await walk(rest.git.async_get_tree(OWNER, REPO, tree.sha, recursive="1"))
    data: dict[str, Any] = {"message": "Change things", "tree": tree.sha, "parents": [main]}
    commit = await walk(rest.git.async_create_commit(OWNER, REPO, data=data))
    assert (await walk(rest.git.async_get_commit(OWNER, REPO, commit.sha))).author.name == "seconder[bot]"
    await walk(rest.git.async_create_ref(OWNER, REPO, data={"ref": "refs/heads/feature", "sha": main}))
    await walk(rest.git.async_update_ref(OWNER, REPO, "heads/feature", data={"sha": commit.sha}))
    await walk(rest.repos.async_list_branches(OWNER, REPO))
    await walk(rest.repos.async_get_branch(OWNER, REPO, "feature"))
    found = await walk(rest.repos.async_get_commit(OWNER, REPO, "feature"))
    assert [f.filename for f in found.files] == ["README.md", "hi.txt", "src/shop.py"]
    await walk(rest.repos.async_list_commits(OWNER, REPO, sha="feature"))
    assert (await walk(rest.repos.async_compare_commits(OWNER, REPO, "main...feature"))).ahead_by == 1
    return str(commit.sha)


async def _files(walk: Walk, rest: Any) -> None:
    await walk(rest.repos.async_get_content(OWNER, REPO, ""))
    text = base64.b64encode(b"notes\n").decode()
    data: dict[str, Any] = {"message": "Add notes", "content": text, "branch": "main"}
    made = await walk(rest.repos.async_create_or_update_file_contents(OWNER, REPO, "docs/notes.md", data=data))
    assert (await walk(rest.repos.async_get_content(OWNER, REPO, "docs/notes.md"))).sha == made.content.sha
    await walk(rest.repos.async_get_content(OWNER, REPO, "docs"))
    data = {"message": "Drop notes", "sha": made.content.sha}
    await walk(rest.repos.async_delete_file(OWNER, REPO, "docs/notes.md", data=data))


async def _issues(walk: Walk, rest: Any) -> None:
    issues, reactions = rest.issues, rest.reactions
    await walk(issues.async_create_label(OWNER, REPO, data={"name": "seconder", "color": "00ff00"}))
    await walk(issues.async_list_labels_for_repo(OWNER, REPO))
    number = (
        await walk(issues.async_create(OWNER, REPO, data={"title": "Bug", "body": "b", "labels": ["bug"]}))
    ).number
    await walk(issues.async_get(OWNER, REPO, number))
    await walk(issues.async_list_for_repo(OWNER, REPO, state="all"))
    await walk(issues.async_update(OWNER, REPO, number, data={"title": "A bug", "state": "closed"}))
    await walk(issues.async_add_labels(OWNER, REPO, number, data={"labels": ["seconder"]}))
    await walk(issues.async_set_labels(OWNER, REPO, number, data=["bug", "new one"]))
    await walk(issues.async_list_labels_on_issue(OWNER, REPO, number))
    await walk(issues.async_remove_label(OWNER, REPO, number, "new one"))
    comment = (await walk(issues.async_create_comment(OWNER, REPO, number, data={"body": "hello"}))).id
    await walk(issues.async_list_comments(OWNER, REPO, number))
    await walk(issues.async_list_comments_for_repo(OWNER, REPO))
    await walk(issues.async_get_comment(OWNER, REPO, comment))
    await walk(issues.async_update_comment(OWNER, REPO, comment, data={"body": "hello again"}))
    made = await walk(reactions.async_create_for_issue(OWNER, REPO, number, data={"content": "eyes"}))
    await walk(reactions.async_list_for_issue(OWNER, REPO, number))
    await walk(reactions.async_delete_for_issue(OWNER, REPO, number, made.id))
    made = await walk(reactions.async_create_for_issue_comment(OWNER, REPO, comment, data={"content": "+1"}))
    await walk(reactions.async_list_for_issue_comment(OWNER, REPO, comment))
    await walk(reactions.async_delete_for_issue_comment(OWNER, REPO, comment, made.id))
    await walk(issues.async_delete_comment(OWNER, REPO, comment))


async def _rules(walk: Walk, rest: Any) -> None:
    data: dict[str, Any] = {
        "required_status_checks": {"strict": False, "contexts": [], "checks": [{"context": "ci", "app_id": 7}]},
        "enforce_admins": True,
        "required_pull_request_reviews": {"required_approving_review_count": 1},
        "restrictions": None,
    }
    await walk(rest.repos.async_update_branch_protection(OWNER, REPO, "main", data=data))
    await walk(rest.repos.async_get_branch_protection(OWNER, REPO, "main"))
    rules = await walk(rest.repos.async_get_branch_rules(OWNER, REPO, "main"))
    assert [r.type for r in rules] == ["deletion", "non_fast_forward", "pull_request", "required_status_checks"]


async def _teams(walk: Walk, scene: Scene, rest: Any) -> None:
    scene.gh.world.add_team(OWNER, "web", ["bob"]).roles[scene.repo.id] = "write"
    (member,) = await walk(rest.teams.async_list_members_in_org(OWNER, "web"))
    assert member.login == "bob"
    await walk(rest.teams.async_check_permissions_for_repo_in_org(OWNER, "web", OWNER, REPO))


async def _pulls(walk: Walk, rest: Any, head: str) -> int:
    pulls = rest.pulls
    data: dict[str, Any] = {"title": "Change things", "head": "feature", "base": "main", "body": "b", "draft": False}
    made = await walk(pulls.async_create(OWNER, REPO, data=data))
    assert (made.head.sha, made.mergeable, made.mergeable_state) == (head, True, "blocked")
    await walk(pulls.async_get(OWNER, REPO, made.number))
    assert len(await walk(pulls.async_list(OWNER, REPO, head="acme:feature"))) == 1
    await walk(pulls.async_update(OWNER, REPO, made.number, data={"title": "Change more"}))
    files = await walk(pulls.async_list_files(OWNER, REPO, made.number))
    assert {f.filename: f.status for f in files}["README.md"] == "removed"
    await walk(pulls.async_list_commits(OWNER, REPO, made.number))
    await walk(pulls.async_request_reviewers(OWNER, REPO, made.number, data={"reviewers": ["bob", "ada"]}))
    await walk(pulls.async_list_requested_reviewers(OWNER, REPO, made.number))
    await walk(pulls.async_remove_requested_reviewers(OWNER, REPO, made.number, data={"reviewers": ["ada"]}))
    return int(made.number)


async def _reviews(walk: Walk, rest: Any, bob: Any, number: int) -> None:
    pulls, reactions = rest.pulls, rest.reactions
    comments = [{"path": "src/shop.py", "line": 1, "side": "RIGHT", "body": "why?"}]
    data: dict[str, Any] = {"event": "COMMENT", "body": "Some findings", "comments": comments}
    review = await walk(pulls.async_create_review(OWNER, REPO, number, data=data))
    await walk(pulls.async_get_review(OWNER, REPO, number, review.id))
    assert len(await walk(pulls.async_list_comments_for_review(OWNER, REPO, number, review.id))) == 1
    pending = await walk(bob.pulls.async_create_review(OWNER, REPO, number, data={"body": "fine"}))
    await walk(bob.pulls.async_submit_review(OWNER, REPO, number, pending.id, data={"event": "APPROVE"}))
    await walk(pulls.async_list_reviews(OWNER, REPO, number))
    dismissed = await walk(pulls.async_dismiss_review(OWNER, REPO, number, pending.id, data={"message": "stale"}))
    assert dismissed.state == "DISMISSED"
    head = review.commit_id
    data = {"body": "here", "commit_id": head, "path": "src/shop.py", "line": 1, "side": "RIGHT"}
    made = await walk(pulls.async_create_review_comment(OWNER, REPO, number, data=data))
    await walk(pulls.async_get_review_comment(OWNER, REPO, made.id))
    await walk(pulls.async_list_review_comments(OWNER, REPO, number))
    await walk(pulls.async_create_reply_for_review_comment(OWNER, REPO, number, made.id, data={"body": "so"}))
    kept = await walk(
        reactions.async_create_for_pull_request_review_comment(OWNER, REPO, made.id, data={"content": "eyes"})
    )
    await walk(reactions.async_list_for_pull_request_review_comment(OWNER, REPO, made.id))
    await walk(reactions.async_delete_for_pull_request_comment(OWNER, REPO, made.id, kept.id))


async def _checks(walk: Walk, rest: Any, head: str) -> None:
    checks = rest.checks
    note = {"path": "src/shop.py", "start_line": 1, "end_line": 1, "annotation_level": "notice", "message": "m"}
    output = {"title": "t", "summary": "s", "annotations": [note]}
    data: dict[str, Any] = {"name": "seconder/quality", "head_sha": head, "external_id": "q:1", "output": output}
    made = await walk(checks.async_create(OWNER, REPO, data=data))
    await walk(checks.async_get(OWNER, REPO, made.id))
    actions = [{"label": "Approve", "description": "Let it pass", "identifier": "approve"}]
    data = {"conclusion": "action_required", "actions": actions}
    await walk(checks.async_update(OWNER, REPO, made.id, data=data))
    await walk(checks.async_list_annotations(OWNER, REPO, made.id))
    listed = await walk(checks.async_list_for_ref(OWNER, REPO, "feature", check_name="seconder/quality"))
    assert (listed.total_count, listed.check_runs[0].external_id) == (1, "q:1")
    await walk(checks.async_list_for_suite(OWNER, REPO, made.check_suite.id))
    await walk(checks.async_rerequest_run(OWNER, REPO, made.id))
    await walk(checks.async_rerequest_suite(OWNER, REPO, made.check_suite.id))
    await walk(rest.repos.async_create_commit_status(OWNER, REPO, head, data={"state": "success", "context": "lint"}))
    assert (await walk(rest.repos.async_get_combined_status_for_ref(OWNER, REPO, head))).state == "success"
