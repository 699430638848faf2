"""The local GitHub's own reading of CODEOWNERS, what it lets merge, and that both readings agree."""

from __future__ import annotations

import random

import pytest

from gates.codeowners import parse
from infra.local_github.owners import _rules
from infra.local_github.records import Protection
from tests.infra.local_github.scene import Scene
from tests.infra.local_github.test_pulls import PULLS, call

OWNERS_RULE = Protection(approvals=1, reviews_required=True, code_owners=True)


@pytest.mark.parametrize(
    ("text", "by", "merges"),
    [
        pytest.param("* @bob", "bob", True, id="the owner approved"),
        pytest.param("* @ada", "bob", False, id="somebody else approved"),
        pytest.param("* @BOB", "bob", True, id="in any case"),
        pytest.param("* @acme/web", "bob", True, id="a member of the owning team"),
        pytest.param("* @acme/readers", "bob", True, id="a team without write owns nothing"),
        pytest.param("* @ada\nfeature.txt", "bob", True, id="a later line takes it out"),
        pytest.param("* @ada\n*.txt @bob", "bob", True, id="the last match decides"),
        pytest.param("* @bob\n*.txt @ada", "bob", False, id="the last match decides, against"),
        pytest.param("/docs/ @ada", "bob", True, id="owns other paths"),
    ],
)
async def test_a_merge_waits_for_code_owners(scene: Scene, text: str, by: str, merges: bool) -> None:
    world = scene.gh.world
    world.collaborate("acme/shop", "eve", "admin")
    world.add_team("acme", "web", ["bob"]).roles[scene.repo.id] = "write"
    world.add_team("acme", "readers", ["ada"]).roles[scene.repo.id] = "read"
    body = {"message": "Own", "content": _encoded(text), "branch": "main"}
    await scene.gh.act("ada", "PUT", "/repos/acme/shop/contents/.github/CODEOWNERS", body)
    number = await scene.pull(by="eve")
    world.protect("acme/shop", "main", OWNERS_RULE)
    await scene.gh.act(by, "POST", f"{PULLS}/{number}/reviews", {"event": "APPROVE"})
    reply = await call(scene, "ada", "PUT", f"{PULLS}/{number}/merge")
    assert reply.status_code == (200 if merges else 405), reply.text
    if not merges:
        assert "code owner" in reply.json()["message"]


async def test_the_change_does_not_judge_itself(scene: Scene) -> None:
    body = {"message": "Own", "content": _encoded("* @ada"), "branch": "main"}
    await scene.gh.act("ada", "PUT", "/repos/acme/shop/contents/CODEOWNERS", body)
    await scene.branch("feature", "CODEOWNERS", "* @bob\n")
    made = await scene.gh.act("ada", "POST", PULLS, {"title": "t", "head": "feature", "base": "main"})
    scene.gh.world.protect("acme/shop", "main", OWNERS_RULE)
    await scene.gh.act("bob", "POST", f"{PULLS}/{made['number']}/reviews", {"event": "APPROVE"})
    assert (await call(scene, "ada", "PUT", f"{PULLS}/{made['number']}/merge")).status_code == 405


def _encoded(text: str) -> str:
    import base64

    return base64.b64encode(text.encode()).decode()


def test_two_readings_agree_on_made_up_files() -> None:
    """The gate follows positions, the local GitHub translates into regular expressions: neither knows the other."""
    dice = random.Random(20261201)
    names = ("a", "b", "ab", "a.js", ".x")
    parts = (*names, "*", "**", "*.js", "?", "a*", "*b", r"a\*", "a b".replace(" ", r"\ "))
    paths = ["/".join(dice.choice((*names, "a b", "a*")) for _ in range(dice.randint(1, 4))) for _ in range(60)]
    for _ in range(1_500):
        pattern = "/".join(dice.choice(parts) for _ in range(dice.randint(1, 4)))
        pattern = dice.choice(("", "", "/")) + pattern + dice.choice(("", "", "/"))
        text = f"{pattern} @ann"
        (rule,), [(other, _)] = parse(text.encode()).rules, _rules(text)
        for path in paths:
            assert rule.matches(path) == bool(other.fullmatch(path)), (pattern, path)
