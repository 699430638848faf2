"""Teams: their members, and what they may do in a repository (GitHub REST: Teams, Team members)."""

from __future__ import annotations

from infra.local_github.api import Answer, Call, Endpoint
from infra.local_github.auth import Needs, allowed
from infra.local_github.errors import ApiError, not_found
from infra.local_github.objects_base import repository, simple_user
from infra.local_github.records import ROLES, Team

MEMBERS = Needs(("members",), who="account")


def _team(call: Call) -> Team:
    """The team in the path; an App has to hold the organisation's permission `members`."""
    if call.actor.installation is not None and not allowed(call.actor.permissions, MEMBERS):
        accepted = {"X-Accepted-GitHub-Permissions": MEMBERS.header}
        raise ApiError(403, "Resource not accessible by integration", headers=accepted)
    team = call.world.team(call.params["org"], call.params["slug"])
    if team is None:
        raise not_found()
    return team


async def list_members(call: Call) -> Answer:
    users = [call.world.state.users[user] for user in _team(call).members]
    return call.page(users, lambda user: simple_user(call.world, user))


async def check_repository(call: Call) -> Answer:
    """204 for a team with a role in the repository, or the repository with the role where it is asked for."""
    role = _team(call).roles.get(call.repo.id)
    if role is None:
        raise not_found()
    if "repository" not in call.accept:
        return Answer(204)
    held = ROLES[: ROLES.index(role) + 1]
    names = {"read": "pull", "write": "push"}
    flags = {names.get(name, name): name in held for name in ROLES}
    return Answer(200, repository(call.world, call.repo) | {"permissions": flags, "role_name": role})


_BASE = "/orgs/{org}/teams/{slug}"
ENDPOINTS = (
    Endpoint("GET", _BASE + "/members", list_members, MEMBERS),
    Endpoint("GET", _BASE + "/repos/{owner}/{repo}", check_repository, Needs(who="account")),
)
