"""Branch rules and classic branch protection (GitHub REST: Rules, Branch protection).

Rules and protection are one thing here: what is protected shows as rules too.
"""

from __future__ import annotations

from infra.local_github import objects_git
from infra.local_github.api import Answer, Call, Endpoint
from infra.local_github.auth import Needs
from infra.local_github.errors import ApiError, unprocessable
from infra.local_github.records import Json, Protection

ADMIN = Needs(("administration",), "write", "admin")
ADMIN_READ = Needs(("administration",), "read", "admin")


async def branch_rules(call: Call) -> Answer:
    rules = call.repo.protection.get(call.params["branch"])
    return call.page(_as_rules(call, rules) if rules else [], lambda rule: rule)


def _as_rules(call: Call, rules: Protection) -> list[Json]:
    source = {
        "ruleset_source_type": "Repository",
        "ruleset_source": call.world.full_name(call.repo),
        "ruleset_id": call.repo.id,
    }
    shown: list[Json] = [{"type": "deletion", **source}, {"type": "non_fast_forward", **source}]
    if rules.approvals or rules.reviews_required:
        parameters: Json = {
            "required_approving_review_count": rules.approvals,
            "dismiss_stale_reviews_on_push": rules.dismiss_stale,
            "require_code_owner_review": rules.code_owners,
            "require_last_push_approval": False,
            "required_review_thread_resolution": False,
        }
        shown.append({"type": "pull_request", "parameters": parameters, **source})
    if rules.checks:
        checks = [
            {"context": name, **({"integration_id": app} if app is not None else {})} for name, app in rules.checks
        ]
        parameters = {"required_status_checks": checks, "strict_required_status_checks_policy": rules.strict}
        shown.append({"type": "required_status_checks", "parameters": parameters, **source})
    return shown


async def get_protection(call: Call) -> Answer:
    rules = call.repo.protection.get(call.params["branch"])
    if rules is None:
        raise ApiError(404, "Branch not protected")
    return Answer(200, _shown(call, rules))


def _shown(call: Call, rules: Protection) -> Json:
    url = f"{objects_git.repo_url(call.world, call.repo)}/branches/{call.params['branch']}/protection"
    shown: Json = {
        "url": url,
        "enforce_admins": {"url": f"{url}/enforce_admins", "enabled": rules.enforce_admins},
        "allow_force_pushes": {"enabled": False},
        "allow_deletions": {"enabled": False},
    }
    if rules.checks:
        shown["required_status_checks"] = {
            "url": f"{url}/required_status_checks",
            "strict": rules.strict,
            "contexts": [name for name, _ in rules.checks],
            "contexts_url": f"{url}/required_status_checks/contexts",
            "checks": [{"context": name, "app_id": app} for name, app in rules.checks],
        }
    if rules.approvals or rules.reviews_required:
        shown["required_pull_request_reviews"] = {
            "url": f"{url}/required_pull_request_reviews",
            "dismiss_stale_reviews": rules.dismiss_stale,
            "require_code_owner_reviews": rules.code_owners,
            "require_last_push_approval": False,
            "required_approving_review_count": rules.approvals,
        }
    return shown


async def put_protection(call: Call) -> Answer:
    branch, body = call.params["branch"], call.body
    if await call.git.ref(call.repo.id, f"refs/heads/{branch}") is None:
        raise ApiError(404, "Branch not found")
    wanted = ("required_status_checks", "enforce_admins", "required_pull_request_reviews", "restrictions")
    missing = [name for name in wanted if name not in body]
    if missing:
        names = ", ".join(f'"{name}"' for name in missing)
        raise unprocessable(f"Invalid request.\n\n{names} weren't supplied.")
    checks, reviews = body["required_status_checks"], body["required_pull_request_reviews"]
    if not isinstance(checks, dict | None) or not isinstance(reviews, dict | None):
        raise unprocessable("Invalid request.\n\nrequired_status_checks must be an object or null.")
    rules = Protection(enforce_admins=body["enforce_admins"] is True, reviews_required=reviews is not None)
    if checks:
        rules.strict = checks.get("strict") is True
        rules.checks = _named_checks(checks)
    if reviews:
        count = reviews.get("required_approving_review_count", 1)
        if not isinstance(count, int) or not 0 <= count <= 6:
            raise unprocessable("required_approving_review_count must be between 0 and 6")
        rules.approvals, rules.dismiss_stale = count, reviews.get("dismiss_stale_reviews") is True
        rules.code_owners = reviews.get("require_code_owner_reviews") is True
    call.repo.protection[branch] = rules
    return Answer(200, _shown(call, rules))


def _named_checks(checks: Json) -> list[tuple[str, int | None]]:
    names, entries = checks.get("contexts") or [], checks.get("checks") or []
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise unprocessable("Invalid request.\n\ncontexts must be a list of names.")
    good = isinstance(entries, list) and all(isinstance(e, dict) and isinstance(e.get("context"), str) for e in entries)
    if not good:
        raise unprocessable("Invalid request.\n\nchecks must be a list of objects with a context.")
    # -1 means any source, as leaving the App out does.
    sources = [(e["context"], None if e.get("app_id") == -1 else e.get("app_id")) for e in entries]
    return [(name, None) for name in names if name not in [s[0] for s in sources]] + sources


async def delete_protection(call: Call) -> Answer:
    if call.repo.protection.pop(call.params["branch"], None) is None:
        raise ApiError(404, "Branch not protected")
    return Answer(204)


_BASE = "/repos/{owner}/{repo}"
ENDPOINTS = (
    Endpoint("GET", _BASE + "/rules/branches/{branch+}", branch_rules),
    Endpoint("GET", _BASE + "/branches/{branch+}/protection", get_protection, ADMIN_READ),
    Endpoint("PUT", _BASE + "/branches/{branch+}/protection", put_protection, ADMIN),
    Endpoint("DELETE", _BASE + "/branches/{branch+}/protection", delete_protection, ADMIN),
)
