"""App endpoints: the App itself, its installations, its tokens and its webhook deliveries (GitHub REST: Apps)."""

from __future__ import annotations

import json
import secrets
from datetime import timedelta

from infra.local_github.api import Answer, Call, Endpoint
from infra.local_github.auth import Needs
from infra.local_github.errors import ApiError, not_found, unprocessable
from infra.local_github.objects_base import app_object, installation_object, repository, stamp
from infra.local_github.records import LEVELS, App, Delivery, Installation, Json, Token
from infra.local_github.webhooks import redeliver

APP = Needs(who="app")
_TOKEN_LIFE = timedelta(hours=1)
_MOST_REPOSITORIES = 500


def _own_app(call: Call) -> App:
    if call.actor.app is None:
        raise ApiError(401, "A JSON web token could not be decoded")
    return call.actor.app


def _own_installation(call: Call) -> Installation:
    made = call.world.state.installations.get(call.number("installation_id"))
    if made is None or made.app_id != _own_app(call).id:
        raise not_found()
    return made


async def get_app(call: Call) -> Answer:
    return Answer(200, app_object(call.world, _own_app(call)))


async def get_hook(call: Call) -> Answer:
    app = _own_app(call)
    if not app.webhook_url:
        raise not_found()
    secret = "********" if app.webhook_secret else None
    return Answer(200, {"content_type": "json", "insecure_ssl": "0", "secret": secret, "url": app.webhook_url})


async def list_installations(call: Call) -> Answer:
    own = [i for i in call.world.state.installations.values() if i.app_id == _own_app(call).id]
    return call.page(own, lambda made: installation_object(call.world, made))


async def get_installation(call: Call) -> Answer:
    return Answer(200, installation_object(call.world, _own_installation(call)))


async def repo_installation(call: Call) -> Answer:
    repo = call.world.repo(f"{call.params['login']}/{call.params['name']}")
    found = [i for i in call.world.installations_of(repo) if i.app_id == _own_app(call).id] if repo else []
    if not found:
        raise not_found()
    return Answer(200, installation_object(call.world, found[0]))


async def create_token(call: Call) -> Answer:
    made = _own_installation(call)
    if made.suspended_at is not None:
        raise ApiError(403, "This installation has been suspended")
    chosen, permissions = _chosen_repositories(call, made), _chosen_permissions(call, made)
    secret = "ghs_" + secrets.token_hex(18)
    ends = call.world.now() + _TOKEN_LIFE
    call.world.state.tokens[secret] = Token(
        installation_id=made.id, repository_ids=chosen, permissions=permissions, expires_at=ends
    )
    body: Json = {"token": secret, "expires_at": stamp(ends), "permissions": permissions}
    body["repository_selection"] = "selected"
    if chosen is not None:
        body["repositories"] = [repository(call.world, call.world.state.repos[r]) for r in chosen]
    return Answer(201, body)


def _chosen_repositories(call: Call, made: Installation) -> list[int] | None:
    ids, names = call.body.get("repository_ids"), call.body.get("repositories")
    if ids is None and names is None:
        return None
    lists = isinstance(ids, list | None) and isinstance(names, list | None)
    if not lists or not all(isinstance(r, int) for r in ids or []):
        raise unprocessable("repository_ids and repositories must be lists, of numbers and of names")
    reach = {r: call.world.state.repos[r].name.lower() for r in made.repository_ids}
    chosen = [r for r in ids or [] if r in reach]
    named = [r for name in names or [] for r, known in reach.items() if known == str(name).lower()]
    asked = len(ids or []) + len(names or [])
    if len(chosen) + len(named) != asked or asked > _MOST_REPOSITORIES:
        raise unprocessable(
            "There is at least one repository that does not exist or is not accessible to the parent installation."
        )
    return list(dict.fromkeys(chosen + named))


def _chosen_permissions(call: Call, made: Installation) -> dict[str, str]:
    asked = call.body.get("permissions")
    if asked is None:
        return dict(made.permissions)
    if not isinstance(asked, dict):
        raise unprocessable("permissions must be an object")
    for name, level in asked.items():
        have = made.permissions.get(name)
        if level not in LEVELS or have is None or LEVELS.index(level) > LEVELS.index(have):
            raise unprocessable("The permissions requested are not granted to this installation.")
    return {"metadata": "read", **asked}


async def revoke_token(call: Call) -> Answer:
    call.world.state.tokens.pop(call.actor.token, None)
    return Answer(204)


async def installation_repositories(call: Call) -> Answer:
    repos = [call.world.state.repos[r] for r in sorted(call.actor.repository_ids)]
    return call.page(repos, lambda r: repository(call.world, r), wrap="repositories")


def _delivery(delivery: Delivery, full: bool = False) -> Json:
    shown: Json = {
        "id": delivery.id,
        "guid": delivery.guid,
        "delivered_at": stamp(delivery.delivered_at),
        "redelivery": delivery.redelivery,
        "duration": delivery.duration,
        "status": delivery.status,
        "status_code": delivery.status_code,
        "event": delivery.event,
        "action": delivery.action,
        "installation_id": delivery.installation_id,
        "repository_id": delivery.repository_id,
        "throttled_at": None,
    }
    if full:
        shown["request"] = {"headers": delivery.request_headers, "payload": json.loads(delivery.payload)}
        shown["response"] = {"headers": delivery.response_headers, "payload": delivery.response_body}
    return shown


def _own_deliveries(call: Call) -> list[Delivery]:
    own = [d for d in call.world.deliveries.values() if d.app_id == _own_app(call).id and d.status != "pending"]
    return sorted(own, key=lambda d: d.id, reverse=True)


async def list_deliveries(call: Call) -> Answer:
    own = _own_deliveries(call)
    wanted = call.query.get("status")
    if wanted in ("success", "failure"):
        own = [d for d in own if (d.status == "OK") == (wanted == "success")]
    cursor, size = call.query.get("cursor", ""), call.query.get("per_page", "30")
    if cursor and not cursor.isdigit():
        raise ApiError(400, "Invalid cursor")
    if cursor:
        own = [d for d in own if d.id < int(cursor)]
    most = min(max(int(size) if size.isdigit() else 30, 1), 100)
    headers = {}
    if len(own) > most:
        query = "&".join(f"{k}={v}" for k, v in {**call.query, "cursor": own[most - 1].id}.items())
        headers["Link"] = f'<{call.world.base_url}/api/v3/app/hook/deliveries?{query}>; rel="next"'
    return Answer(200, [_delivery(d) for d in own[:most]], headers)


async def get_delivery(call: Call) -> Answer:
    return Answer(200, _delivery(_find(call), full=True))


def _find(call: Call) -> Delivery:
    wanted = call.number("delivery_id")
    found = next((d for d in _own_deliveries(call) if d.id == wanted), None)
    if found is None:
        raise not_found()
    return found


async def attempt_delivery(call: Call) -> Answer:
    redeliver(call.world, _find(call))
    return Answer(202, {})


async def rate_limit(call: Call) -> Answer:
    limit, used, reset = call.world.rate(call.actor.key)
    core = {"limit": limit, "used": used, "remaining": max(0, limit - used), "reset": reset}
    return Answer(200, {"resources": {"core": core, "search": core, "graphql": core}, "rate": core})


ENDPOINTS = (
    Endpoint("GET", "/app", get_app, APP),
    Endpoint("GET", "/app/hook/config", get_hook, APP),
    Endpoint("GET", "/app/installations", list_installations, APP),
    Endpoint("GET", "/app/installations/{installation_id}", get_installation, APP),
    Endpoint("POST", "/app/installations/{installation_id}/access_tokens", create_token, APP),
    Endpoint("GET", "/repos/{login}/{name}/installation", repo_installation, APP),
    Endpoint("GET", "/app/hook/deliveries", list_deliveries, APP),
    Endpoint("GET", "/app/hook/deliveries/{delivery_id}", get_delivery, APP),
    Endpoint("POST", "/app/hook/deliveries/{delivery_id}/attempts", attempt_delivery, APP),
    Endpoint("DELETE", "/installation/token", revoke_token, Needs(who="token")),
    Endpoint("GET", "/installation/repositories", installation_repositories, Needs(who="token")),
    Endpoint("GET", "/rate_limit", rate_limit),
)
