"""Pushing the joined tree as a commit on our branch, and the draft pull request beside it."""

from __future__ import annotations

import pytest

from agents.board import PullRequest, Requirements
from handlers.ports import Conflicted, Later, NewPull, Refused, Unknown
from handlers.publisher import Unsettled
from handlers.steps import publish
from tests.fakes.team import Team
from tests.handlers.orders_scene import command
from tests.handlers.steps.scene import CHANGED, end, proven, published, pull_of

NAME = "seconder/issue-1-add-a-total"
MORE = {**CHANGED, "more.py": "x = 1\n"}


@pytest.fixture
async def begun(team: Team) -> Team:
    await team.begin()
    return team


async def step(team: Team, visit: int = 1) -> PullRequest:
    work = await team.work("publish", visit)
    commit = await end(team, work, await publish.run(work))
    assert commit.branch is not None
    return PullRequest.model_validate(commit.entries[-1].value)


def pulls(team: Team) -> list[int]:
    return list(team.world.at(team.repo).pulls)


async def test_the_first_time(begun: Team) -> None:
    tree = await proven(begun)
    pull = await step(begun)
    branches = begun.world.at(begun.repo).branches
    assert (pull.branch, pull.base, pull.action, pull.draft) == (NAME, "main", "opened", True)
    assert branches[NAME] == pull.head_sha
    assert begun.world.tree(begun.repo, pull.head_sha) == pull.tree == tree
    assert (await begun.facts()).pull == pull.number
    assert await begun.said() == ["run_started", "pr_opened"]


async def test_the_commit(begun: Team) -> None:
    pull = await published(begun)
    made = begun.world.commit(begun.repo, pull.head_sha)
    bot = begun.world.bot
    assert made.parents == ((await begun.facts()).base_sha,)
    assert made.author == f"{bot.login} <{bot.id}+{bot.login}@users.noreply.github.com>"
    assert made.message.startswith("Add total")
    assert "#1" in made.message
    tested_at = (await begun.state()).board.live("test_results")
    assert tested_at is not None
    assert made.date == tested_at.at // 1000


async def test_the_draft_says_what_it_is(begun: Team) -> None:
    pull = await published(begun)
    facts = await begun.world.pulls.get(begun.repo, pull.number)
    assert facts.draft
    assert "Fixes #1" in facts.body
    assert facts.author.id == begun.world.bot.id


async def test_a_repeat_changes_nothing_and_makes_the_same_commit(begun: Team) -> None:
    await proven(begun)
    work = await begun.work("publish")
    first, second = await publish.run(work), await publish.run(work)
    assert first.entries[0].value == second.entries[0].value
    assert first.entries[0].id == second.entries[0].id
    assert len(pulls(begun)) == 1
    assert begun.world.count("repository.create_branch") == 1
    assert begun.world.count("pulls.open") == 1


@pytest.mark.parametrize("verb", ["repository.create_branch", "pulls.open", "repository.commit", "pulls.edit"])
async def test_a_lost_answer_doubles_nothing(begun: Team, verb: str) -> None:
    begun.world.drop_reply(verb)
    await proven(begun)
    work = await begun.work("publish")
    for _ in range(3):
        try:
            commit = await publish.run(work)
            break
        except (Unknown, Unsettled):
            continue
    assert commit.pull == pulls(begun)[0]
    assert len(pulls(begun)) == 1
    assert [name for name in begun.world.at(begun.repo).branches if name != "main"] == [NAME]


async def test_the_second_time_is_a_commit_on_top(begun: Team) -> None:
    first = await published(begun)
    second = await published(begun, MORE, visit=2)
    assert (second.action, second.number, second.branch) == ("updated", first.number, NAME)
    assert begun.world.commit(begun.repo, second.head_sha).parents == (first.head_sha,)
    assert begun.world.at(begun.repo).branches[NAME] == second.head_sha
    assert await begun.said() == ["run_started", "pr_opened", "pr_updated"]


async def test_an_unchanged_tree_is_not_pushed_again(begun: Team) -> None:
    first = await published(begun)
    commits = begun.world.count("repository.commit")
    second = await published(begun, CHANGED, visit=2)
    assert (second.head_sha, second.action) == (first.head_sha, "updated")
    assert begun.world.count("repository.commit") == commits


async def test_the_text_follows_the_board(begun: Team) -> None:
    pull = await published(begun)
    await begun.put(begun.entry("requirements", Requirements(summary="Because of reports.", items=())))
    await published(begun, MORE, visit=2)
    facts = await begun.world.pulls.get(begun.repo, pull.number)
    assert "Because of reports." in facts.body


async def test_a_taken_name_gets_a_number(begun: Team) -> None:
    taken = begun.world.push(begun.repo, NAME, {"x.py": "x = 1\n"})
    pull = await published(begun)
    assert pull.branch == f"{NAME}-v2"
    assert begun.world.at(begun.repo).branches[NAME] == taken


async def test_where_all_names_are_taken_it_says_which(begun: Team) -> None:
    begun.world.push(begun.repo, NAME, {"x.py": "x = 1\n"})
    for number in range(2, publish.NAMES_TRIED + 1):
        begun.world.push(begun.repo, f"{NAME}-v{number}", {"x.py": "x = 1\n"})
    await proven(begun)
    with pytest.raises(Refused, match=rf"{NAME} to {NAME}-v5 all exist.*/retry"):
        await publish.run(await begun.work("publish"))
    assert pulls(begun) == []


async def test_a_branch_seconder_is_in_the_way(begun: Team) -> None:
    begun.world.push(begun.repo, "seconder", {"x.py": "x = 1\n"})
    await proven(begun)
    with pytest.raises(Refused, match=r"branch seconder is in the way.*Rename or delete.*/retry"):
        await publish.run(await begun.work("publish"))
    assert begun.world.at(begun.repo).branches.keys() == {"main", "seconder"}


async def test_after_the_branch_is_out_of_the_way_a_retry_goes_through(team: Team) -> None:
    team.world.push(team.repo, "seconder", {"x.py": "x = 1\n"})
    await team.file()
    await team.idle()
    stuck = (await team.state()).last("run_stuck")
    assert stuck is not None
    assert "Rename or delete" in str(stuck.data["why"])
    del team.world.at(team.repo).branches["seconder"]
    await command(team, "/retry")
    await team.until(lambda state: state.last("gate_opened") is not None)
    assert NAME in team.world.at(team.repo).branches


async def test_what_somebody_pushed_is_not_overwritten(begun: Team) -> None:
    first = await published(begun)
    theirs = begun.world.push(begun.repo, NAME, {"theirs.py": "x = 1\n"})
    await proven(begun, MORE)
    with pytest.raises(Refused, match=rf"somebody pushed {theirs[:12]}.*{first.head_sha[:12]}.*/retry"):
        await publish.run(await begun.work("publish", 2))
    assert begun.world.at(begun.repo).branches[NAME] == theirs


async def test_nor_after_a_gate_has_seen_it(begun: Team) -> None:
    """The merge gate writes the head that it found; that is not ours to build on."""
    first = await published(begun)
    theirs = begun.world.push(begun.repo, NAME, {"theirs.py": "x = 1\n"})
    seen = first.model_copy(update={"action": "pushed", "head_sha": theirs, "tree": ""})
    await begun.put(begun.entry("pull_request", seen, "merge"))
    await proven(begun, MORE)
    with pytest.raises(Refused, match="somebody pushed"):
        await publish.run(await begun.work("publish", 2))
    assert begun.world.at(begun.repo).branches[NAME] == theirs


async def test_once_the_branch_is_back_it_goes_on(begun: Team) -> None:
    first = await published(begun)
    theirs = begun.world.push(begun.repo, NAME, {"theirs.py": "x = 1\n"})
    seen = first.model_copy(update={"action": "pushed", "head_sha": theirs, "tree": ""})
    await begun.put(begun.entry("pull_request", seen, "merge"))
    begun.world.at(begun.repo).branches[NAME] = first.head_sha
    second = await published(begun, MORE, visit=2)
    assert begun.world.commit(begun.repo, second.head_sha).parents == (first.head_sha,)


async def test_our_open_pull_request_is_taken_up(begun: Team) -> None:
    """It was opened by a process that was killed before it could say so, and the list did not show it at first."""
    await proven(begun)
    work = await begun.work("publish")
    begun.world.drop_reply("pulls.open")
    begun.world.lag("pulls.find")
    with pytest.raises(Unsettled):
        await publish.run(work)
    commit = await publish.run(work)
    assert (commit.pull, len(pulls(begun))) == (pulls(begun)[0], 1)


async def test_somebody_elses_pull_request_of_our_branch_is_not_ours(begun: Team) -> None:
    await proven(begun)
    work = await begun.work("publish")
    begun.world.fail("pulls.open", Later("rate limit", 1.0))
    with pytest.raises(Later):
        await publish.run(work)
    made = await begun.world.pulls.open(begun.repo, NewPull("Mine", "", NAME, "main"))
    begun.world.issue(begun.repo, made.number).author = begun.ann
    with pytest.raises((Conflicted, Unsettled)):
        await publish.run(work)
    assert begun.world.issue(begun.repo, made.number).title == "Mine"


async def test_with_nothing_made_there_is_nothing_to_open(begun: Team) -> None:
    commit = await publish.run(await begun.work("publish"))
    assert (commit.outcome, commit.entries, commit.pull) == ("done", (), None)
    assert begun.world.count("repository.branch") == 0


@pytest.mark.parametrize("title", ["🦀🦀🦀", "加上合计", "", "../../etc/passwd", "x" * 300])
async def test_odd_titles_make_safe_branches(team: Team, title: str) -> None:
    team.world.issue(team.repo, team.issue).title = title
    await team.begin()
    pull = await published(team)
    assert pull.branch.startswith("seconder/issue-1")
    assert len(pull.branch) < 64


async def test_another_default_branch(team: Team) -> None:
    repo = team.world.at(team.repo)
    repo.branches["trunk"] = repo.branches.pop("main")
    repo.default_branch = "trunk"
    await team.begin()
    assert (await published(team)).base == "trunk"


async def test_the_board_holds_one_live_pull_request(begun: Team) -> None:
    await published(begun)
    await published(begun, MORE, visit=2)
    kinds = [entry.kind for entry in (await begun.state()).board.all()]
    assert kinds.count("pull_request") == 2
    assert (await pull_of(begun)).action == "updated"
