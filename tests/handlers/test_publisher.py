"""Effects: booked before, receipted after, looked for before they are repeated."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import pytest

from agents.ports import Fenced
from handlers.ports import Later, Refused, Unknown
from handlers.publisher import Effect, Publisher, Receipt, Unsettled, marker
from handlers.work import Work
from infra.store import embedded
from tests.fakes.store import RealStore
from tests.fakes.team import Team

KEY = "thing:1"


@dataclass
class Thing:
    """Something outside that can be made and found; each of `errors` is raised by one `do`, None by none."""

    errors: list[Exception | None] = field(default_factory=list)
    made: int = 0
    looked: int = 0
    there: Receipt | None = None
    undone: list[Receipt] = field(default_factory=list)
    happens: bool = True

    @property
    def effect(self) -> Effect:
        return Effect(KEY, self.do, self.find, self.undo)

    async def do(self) -> Receipt:
        error = self.errors.pop(0) if self.errors else None
        self.made += 1
        receipt = {"thing": self.made}
        if error is None or self.happens:
            self.there = self.there or receipt
        if error is not None:
            raise error
        return receipt

    async def find(self) -> Receipt | None:
        self.looked += 1
        return self.there

    async def undo(self, made: Receipt) -> None:
        self.undone.append(made)


@pytest.fixture
async def work(team: Team) -> Work:
    await team.begin()
    return await team.work("survey")


async def test_a_new_effect_is_made_once_without_looking(work: Work) -> None:
    thing = Thing()
    assert await work.publisher.once(thing.effect) == {"thing": 1}
    assert await work.publisher.once(thing.effect) == {"thing": 1}
    assert (thing.made, thing.looked, thing.undone) == (1, 0, [])


async def test_the_receipt_is_in_the_log(team: Team, work: Work) -> None:
    await work.publisher.once(Thing().effect)
    assert (await team.state()).receipts == {KEY: {"thing": 1}}


async def test_an_attempt_that_came_through_is_found(team: Team, work: Work) -> None:
    await team.store.effects.attempt(work.lease, KEY)
    thing = Thing(there={"thing": 7})
    assert await work.publisher.once(thing.effect) == {"thing": 7}
    assert thing.made == 0


async def test_an_attempt_that_is_not_found_waits_for_the_settle_window(team: Team, work: Work) -> None:
    await team.store.effects.attempt(work.lease, KEY)
    thing = Thing()
    with pytest.raises(Unsettled, match=KEY) as caught:
        await work.publisher.once(thing.effect)
    assert 0 < caught.value.wait_ms <= team.context.options.settle_ms
    assert thing.made == 0


async def test_after_the_settle_window_it_is_looked_for_once_more_and_made(team: Team, work: Work) -> None:
    await team.store.effects.attempt(work.lease, KEY)
    thing = Thing()
    with pytest.raises(Unsettled) as caught:
        await work.publisher.once(thing.effect)
    await asyncio.sleep(caught.value.wait_ms / 1000 + 0.02)
    assert await work.publisher.once(thing.effect) == {"thing": 1}
    assert (thing.made, thing.looked) == (1, 2)


async def test_it_may_turn_up_after_the_window(team: Team, work: Work) -> None:
    await team.store.effects.attempt(work.lease, KEY)
    await asyncio.sleep(team.context.options.settle_ms / 1000 + 0.02)
    thing = Thing(there={"thing": 7})
    assert await work.publisher.once(thing.effect) == {"thing": 7}
    assert thing.made == 0


async def test_a_repeat_begins_a_new_settle_window(team: Team, work: Work) -> None:
    await team.store.effects.attempt(work.lease, KEY)
    await asyncio.sleep(team.context.options.settle_ms / 1000 + 0.02)
    thing = Thing([Later("slow down", 1.0)], happens=False)
    with pytest.raises(Later):
        await work.publisher.once(thing.effect)
    with pytest.raises(Unsettled):
        await work.publisher.once(thing.effect)


async def test_an_unknown_outcome_that_is_found_counts(work: Work) -> None:
    thing = Thing([Unknown("broken line")])
    assert await work.publisher.once(thing.effect) == {"thing": 1}
    assert (thing.made, thing.looked) == (1, 1)


async def test_an_unknown_outcome_that_is_not_found_is_unsettled(team: Team, work: Work) -> None:
    thing = Thing([Unknown("broken line")], happens=False)
    with pytest.raises(Unsettled) as caught:
        await work.publisher.once(thing.effect)
    assert caught.value.wait_ms == team.context.options.settle_ms
    assert thing.made == 1


@pytest.mark.parametrize("error", [Refused("no"), Later("wait", 3.0)])
async def test_other_errors_pass_through_without_a_receipt(team: Team, work: Work, error: Exception) -> None:
    thing = Thing([error], happens=False)
    with pytest.raises(type(error)):
        await work.publisher.once(thing.effect)
    assert (await team.state()).receipts == {}


async def test_whoever_comes_second_removes_its_own(team: Team, work: Work) -> None:
    """Somebody took the step over while our call was under way, and its receipt came first."""
    thing = Thing()

    async def slow() -> Receipt:
        await team.store.effects.receipt(work.run.id, KEY, {"thing": 99})
        return await thing.do()

    effect = Effect(KEY, slow, thing.find, thing.undo)
    assert await work.publisher.once(effect) == {"thing": 99}
    assert thing.undone == [{"thing": 1}]


@pytest.mark.parametrize(
    ("standing", "undone"),
    [
        pytest.param(None, [], id="nobody else came: it is receipted"),
        pytest.param({"thing": 99}, [{"thing": 1}], id="somebody took over: it is removed"),
    ],
)
async def test_a_call_under_way_is_not_cut_off_half_way(
    team: Team, work: Work, standing: Receipt | None, undone: list[Receipt]
) -> None:
    """A worker that was frozen past its lease: on waking the request goes out, and then the step is cancelled."""
    thing, called, answered = Thing(), asyncio.Event(), asyncio.Event()

    async def slow() -> Receipt:
        made = await thing.do()
        called.set()
        await answered.wait()
        return made

    step = asyncio.create_task(work.publisher.once(Effect(KEY, slow, thing.find, thing.undo)))
    await called.wait()
    if standing is not None:
        await team.store.effects.receipt(work.run.id, KEY, standing)
    step.cancel()
    await asyncio.sleep(0.01)
    step.cancel()
    answered.set()
    with pytest.raises(asyncio.CancelledError):
        await step
    assert thing.undone == undone
    assert (await team.state()).receipts == {KEY: standing or {"thing": 1}}


async def test_removing_a_double_is_tried_again(team: Team, work: Work) -> None:
    thing, stumbles = Thing(), [Unknown("broken line"), Later("slow down", 0.1)]

    async def do() -> Receipt:
        await team.store.effects.receipt(work.run.id, KEY, {"thing": 99})
        return await thing.do()

    async def undo(made: Receipt) -> None:
        if stumbles:
            raise stumbles.pop()
        await thing.undo(made)

    assert await Publisher(team.context, work.lease, team.repo).once(Effect(KEY, do, thing.find, undo))
    assert thing.undone == [{"thing": 1}]


async def test_where_one_cannot_be_told_from_two_nothing_is_removed(team: Team, work: Work) -> None:
    thing = Thing()

    async def same() -> Receipt:
        await team.store.effects.receipt(work.run.id, KEY, {"thing": 1})
        return await thing.do()

    assert await work.publisher.once(Effect(KEY, same, thing.find, thing.undo)) == {"thing": 1}
    assert thing.undone == []


async def test_without_the_lease_nothing_is_called(team: Team, work: Work) -> None:
    await team.store.runs.cancel(team.run, "d9", "stopped")
    thing = Thing()
    with pytest.raises(Fenced):
        await work.publisher.once(thing.effect)
    assert (thing.made, thing.looked) == (0, 0)


async def test_a_lease_that_ran_out_on_our_clock_calls_nothing(valkey: embedded.EmbeddedServer) -> None:
    """The store may still think that the step is ours: our own clock decides."""
    store = RealStore(valkey, lease_s=8.0)
    try:
        team = Team(store)
        await team.begin()
        work = await team.work("survey")
        store.renewer.release(work.lease.task, work.lease.token)
        thing = Thing()
        with pytest.raises(Fenced, match="ran out before thing:1"):
            await work.publisher.once(thing.effect)
        assert thing.made == 0
    finally:
        await store.close()


# --- Comments


async def test_a_comment_is_found_again_by_its_marker(team: Team, work: Work) -> None:
    made = await work.publisher.comment(team.issue, "hello", "Hello.")
    assert team.comments() == [f"Hello.\n\n{marker(team.run, 'hello')}"]
    assert await Publisher(team.context, work.lease, team.repo).comment(team.issue, "hello", "Hello again.") == made
    assert len(team.comments()) == 1


async def test_a_comment_whose_answer_was_lost_is_not_posted_twice(team: Team, work: Work) -> None:
    team.world.drop_reply("issues.comment")
    await work.publisher.comment(team.issue, "hello", "Hello.")
    assert len(team.comments()) == 1


async def test_a_comment_that_the_list_does_not_show_yet_is_found_later(team: Team, work: Work) -> None:
    team.world.drop_reply("issues.comment")
    team.world.lag("issues.comments")
    with pytest.raises(Unsettled):
        await work.publisher.comment(team.issue, "hello", "Hello.")
    await work.publisher.comment(team.issue, "hello", "Hello.")
    assert len(team.comments()) == 1


async def test_somebody_elses_copy_of_the_marker_is_not_ours(team: Team, work: Work) -> None:
    team.world.add_comment(team.repo, team.issue, team.guest, marker(team.run, "hello"))
    team.world.drop_reply("issues.comment")
    made = await work.publisher.comment(team.issue, "hello", "Hello.")
    assert [comment.id for comment in team.world.issue(team.repo, team.issue).comments if comment.by_us] == [made]


async def test_the_second_of_two_comments_is_removed_again(team: Team, work: Work) -> None:
    posted = team.world.add_comment(team.repo, team.issue, team.world.bot, marker(team.run, "hello"))
    await team.store.effects.receipt(team.run, "comment:other", {"comment": posted})
    issues = team.context.github.issues

    async def do() -> Receipt:
        await team.store.effects.receipt(team.run, "comment:hello", {"comment": posted})
        return {"comment": await issues.comment(team.repo, team.issue, "twice")}

    async def find() -> Receipt | None:
        return None

    async def undo(made: Receipt) -> None:
        await issues.delete_comment(team.repo, int(str(made["comment"])))

    await work.publisher.once(Effect("comment:hello", do, find, undo))
    assert [comment.id for comment in team.world.issue(team.repo, team.issue).comments] == [posted]
