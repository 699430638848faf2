"""Commands as they arrive: who may give them, and how each is answered."""

from __future__ import annotations

import pytest

from handlers.commands import COMMANDS, table
from handlers.events import Actor, CommandGiven
from handlers.ports import GitHubError, Later, Missing, Refused, Unknown
from tests.fakes.github_world import Level
from tests.fakes.team import Team
from tests.handlers.orders_scene import command, reactions, replies

VERBS = [pytest.param(one.verb, id=one.verb) for one in COMMANDS]
RANKS: tuple[Level, ...] = ("none", "read", "triage", "write", "maintain", "admin")
EXAMPLE = {one.verb: one.examples[0] for one in COMMANDS}
WHO = {one.verb: one.who for one in COMMANDS}


@pytest.mark.parametrize("level", RANKS)
@pytest.mark.parametrize("verb", VERBS)
async def test_who_may(team: Team, verb: str, level: Level) -> None:
    """Below the level nothing is done; who can at least triage hears why, all others nothing at all."""
    if verb != "start":
        await team.begin()
    team.world.permit(team.repo, team.guest, level)
    await command(team, EXAMPLE[verb], team.guest)
    needed = WHO[verb]
    allowed = needed == "anyone" or RANKS.index(level) >= RANKS.index(needed)
    assert ("eyes" in reactions(team)) is allowed
    denied = [reply for reply in replies(team) if needed in reply and "guest" in reply]
    assert len(denied) == (1 if not allowed and level in ("triage", "write") else 0)
    if not allowed:
        assert "+1" not in reactions(team)


async def test_a_denied_command_does_nothing(team: Team) -> None:
    await team.begin()
    before = (await team.facts()).length
    for one in COMMANDS:
        if one.who != "anyone":
            await command(team, one.examples[0], team.guest)
    assert (await team.facts()).length == before
    assert (await team.facts()).status == "open"
    assert team.comments() == []


@pytest.mark.parametrize("kind", ["Bot", "Organization"])
async def test_machines_give_no_commands(team: Team, kind: str) -> None:
    await team.begin()
    robot = team.world.add_person(team.repo, "robot", "admin", kind)
    await command(team, "/stop", robot)
    assert (await team.facts()).status == "open"
    assert reactions(team) == set()
    assert replies(team) == []


async def test_a_comment_that_another_account_sends_is_no_order(team: Team) -> None:
    await team.begin()
    await command(team, "/stop", team.rita, sender=team.max)
    assert (await team.facts()).status == "open"
    assert reactions(team) == set()


async def test_an_account_that_took_over_a_login_is_nobody(team: Team) -> None:
    await team.begin()
    await command(team, "/stop", Actor(id=999_999, login="rita"))
    assert (await team.facts()).status == "open"


MISREAD = [
    pytest.param("/stop!", "/stop", id="odd end"),
    pytest.param("/seconder dance", "dance", id="unknown verb"),
    pytest.param("/merge\n\n/stop", "contradict", id="opposed"),
]


@pytest.mark.parametrize(("body", "said"), MISREAD)
async def test_what_cannot_be_followed_is_explained_once_to_who_could_give_it(team: Team, body: str, said: str) -> None:
    await team.begin()
    await command(team, body, team.guest)
    assert replies(team) == []
    cause = await command(team, body, team.rita)
    await command(team, body, team.rita, cause=cause)
    assert len(replies(team)) == 1
    assert said in replies(team)[0]
    assert (await team.facts()).status == "open"


async def test_seen_then_done(team: Team) -> None:
    await team.begin()
    await command(team, "/steer use the parser")
    assert reactions(team) == {"eyes", "+1"}
    assert replies(team) == []


async def test_seen_then_refused(team: Team) -> None:
    await command(team, "/stop")
    assert reactions(team) == {"eyes"}
    assert len(replies(team)) == 1


@pytest.mark.parametrize(
    "error",
    [Refused("locked"), Missing("the comment is gone"), Later("limit", 60.0), Unknown("no answer")],
    ids=["locked", "gone", "limit", "no answer"],
)
async def test_a_thumb_that_cannot_be_given_changes_nothing(team: Team, error: GitHubError) -> None:
    """The order is followed, once, and nobody is told that it was not."""
    await team.begin()
    team.world.fail("issues.react", error, times=2)
    await command(team, "/stop")
    assert (await team.facts()).status != "open"
    assert replies(team) == []


async def test_the_same_order_twice_counts_once(team: Team) -> None:
    await team.begin()
    cause = await command(team, "/budget +5")
    await command(team, "/budget +5", cause=cause)
    assert (await team.facts()).budget == 10_000_000


@pytest.mark.parametrize(
    ("order", "begun"),
    [
        pytest.param("/stop", True, id="its run has ended since"),
        pytest.param("/start", False, id="its run is open since"),
        pytest.param("/steer Mind the gap.", True, id="nothing has changed"),
    ],
)
async def test_an_order_that_was_followed_is_not_refused_when_it_arrives_again(
    team: Team, order: str, begun: bool
) -> None:
    """A worker that dies before it acknowledges the event leaves it to the next one."""
    if begun:
        await team.begin()
    cause = await command(team, order)
    await team.state()
    if order == "/stop":
        await team.idle()
        assert (await team.facts()).status == "run_cancelled"
    length = (await team.facts()).length
    await command(team, order, cause=cause)
    assert replies(team) == []
    assert "+1" in reactions(team)
    assert (await team.facts()).length == length


async def test_an_answer_that_may_have_been_posted_is_waited_for(team: Team) -> None:
    team.world.drop_reply("issues.comment")
    with pytest.raises(Later) as caught:
        await command(team, "/stop", cause="lost")
    assert caught.value.seconds == team.context.options.settle_ms / 1000
    await command(team, "/stop", cause="lost")
    assert len(replies(team)) == 1


async def test_two_orders_count_twice(team: Team) -> None:
    await team.begin()
    await command(team, "/budget +5")
    await command(team, "/budget +5")
    assert (await team.facts()).budget == 15_000_000


async def test_an_order_in_a_review_has_no_comment_to_react_to(team: Team) -> None:
    await team.begin()
    record = CommandGiven(
        repo=team.repo,
        sender=team.rita,
        number=team.issue,
        on_pull_request=False,
        where="review",
        comment_id=5,
        author=team.rita,
        body="/budget +1",
        verb="budget",
        arguments="+1",
    )
    await team.send(record)
    assert (await team.facts()).budget == 6_000_000
    assert team.world.count("issues.react") == 0


async def test_on_another_pull_request_there_is_nothing_of_ours(team: Team) -> None:
    await team.begin()
    other = team.world.add_issue(team.repo, team.rita, "Something else")
    await command(team, "/stop", on_pull=other)
    assert (await team.facts()).status == "open"
    assert len(replies(team, other)) == 1


async def test_the_same_number_in_another_repository_is_another_issue(team: Team) -> None:
    await team.begin()
    ours = team.repo
    team.repo = team.world.add_repo("octo/other", {"a.py": "x = 1\n"})
    team.world.permit(team.repo, team.rita, "admin")
    assert team.world.add_issue(team.repo, team.rita, "Elsewhere") == team.issue
    await command(team, "/stop")
    team.repo = ours
    assert (await team.facts()).status == "open"


async def test_help_is_the_table(team: Team) -> None:
    await command(team, "/help", team.guest)
    assert table() in replies(team)[0]
    assert "+1" not in reactions(team)
