"""The security gate over HTTP alone: a change to who may do what waits for a second person, and bandit is asked."""

from __future__ import annotations

import pytest

from infra.local_github.records import Protection
from tests.e2e.house import House
from tests.e2e.plays import FIXED, play, write
from tests.e2e.scene import Scene

pytestmark = pytest.mark.asyncio(loop_scope="session")

AUTH = "import os\n\n\ndef allowed(user):\n    return os.system(f'id {user}') == 0  # nosec\n"
CODE = {
    "calls": [write("calc.py", FIXED), write("auth.py", AUTH)],
    "submit": {"summary": "Make add add", "requirement_ids": ["R1"]},
}


async def test_a_second_person_opens_it_and_nothing_goes_past_it(house: House) -> None:
    scene = await Scene.open(house, "second-person", play(developer={"any": [CODE]}))
    both = [("seconder/security", house.app_id), ("seconder/quality", house.app_id)]
    house.github.world.protect(scene.repo, "main", Protection(checks=both, approvals=1, reviews_required=True))
    await scene.begin()
    said = await scene.event("gate_opened", gate="security")
    pull = await scene.pull()
    number, head = pull["number"], pull["head"]["sha"]
    assert pull["draft"]
    assert (said["head"], sorted(said["who"])) == (head, ["maintainer", "writer"])
    runs = (await scene.ask("writer", "GET", f"/commits/{head}/check-runs"))["check_runs"]
    [check] = [row for row in runs if row["name"] == "seconder/security"]
    assert check["conclusion"] == "action_required"
    notes = await scene.ask("writer", "GET", f"/check-runs/{check['id']}/annotations")
    found = [(row["path"], row["start_line"], row["title"]) for row in notes]
    assert found == [("auth.py", 1, "word.auth"), ("auth.py", 5, "code.B605")]
    await scene.say("requester", f"/approve security {head[:7]}", number)
    await scene.shows("The word of requester does not count")
    await scene.say("writer", f"/approve security {head[:7]}", number)
    await scene.event("gate_opened", gate="quality")
    assert not (await scene.pull())["draft"]
    await scene.review("maintainer", "APPROVE")
    await scene.event("gate_opened", gate="merge")
    await scene.say("maintainer", "/merge", number)
    await scene.ended("run_completed")
