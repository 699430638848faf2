"""Comments as GitHub delivers them, for tests of commands and of what else people say."""

from __future__ import annotations

from agents.board import PullRequest
from handlers.events import Actor, CommandGiven, CommentAdded
from handlers.grammar import REFUSED, Command, Refusal, parse
from handlers.ports import Commit, NewPull
from tests.fakes.team import Team


async def command(
    team: Team,
    body: str,
    who: Actor | None = None,
    on_pull: int | None = None,
    cause: str | None = None,
    sender: Actor | None = None,
    at: int = 0,
) -> str:
    """Somebody comments a command: it stands on the thread, and its event arrives. Returns the event's id."""
    who = who or team.rita
    number = on_pull or team.issue
    parsed = parse(body)
    assert parsed is not None, f"no command: {body}"
    comment = team.world.add_comment(team.repo, number, who, body)
    verb, arguments, words = (
        (parsed.verb, parsed.arguments, parsed.words)
        if isinstance(parsed, Command)
        else (REFUSED, "", parsed.explanation)
    )
    assert isinstance(parsed, Command | Refusal)
    record = CommandGiven(
        repo=team.repo,
        sender=sender or who,
        number=number,
        on_pull_request=on_pull is not None,
        where="issue",
        comment_id=comment,
        author=who,
        body=body,
        url=f"https://github.test/c/{comment}",
        verb=verb,
        arguments=arguments,
        words=words,
    )
    return await team.send(record, cause, at)


async def comment(team: Team, body: str, who: Actor, where: str = "issue", on_pull: int | None = None) -> str:
    """Somebody comments something that is no command."""
    number = on_pull or team.issue
    made = team.world.add_comment(team.repo, number, who, body)
    record = CommentAdded.model_validate(
        {
            "repo": team.repo,
            "sender": who,
            "number": number,
            "on_pull_request": on_pull is not None,
            "where": where,
            "comment_id": made,
            "author": who,
            "body": body,
        }
    )
    return await team.send(record)


def reactions(team: Team) -> set[str]:
    """The reactions to comments."""
    return {content for subject, _, content in team.world.at(team.repo).reactions if subject == "comment"}


def replies(team: Team, number: int | None = None) -> list[str]:
    """Our comments that answer something."""
    thread = team.world.issue(team.repo, number or team.issue).comments
    return [one.body for one in thread if one.by_us and "seconder:reply" in one.body]


async def pull_of_ours(team: Team) -> tuple[str, int]:
    """The open run's pull request, ready, without the work that leads to it: its head and number."""
    head = team.world.push(team.repo, "seconder/x", {"x.py": "x = 1\n"})
    pull = await team.world.pulls.open(team.repo, NewPull("t", "b", "seconder/x", "main"))
    value = PullRequest(
        number=pull.number,
        url=pull.url,
        branch="seconder/x",
        base="main",
        head_sha=head,
        tree="t",
        action="ready",
        draft=False,
    )
    await team.put(team.entry("pull_request", value))
    work = await team.work("survey")
    await team.store.tasks.commit(work.lease, Commit("done", pull=pull.number, branch="seconder/x"))
    return head, pull.number
