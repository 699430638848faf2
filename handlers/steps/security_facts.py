"""Live facts for the security gate: the head, what was found in it, and what people have said about that."""

from __future__ import annotations

from collections.abc import Sequence

from agents.board import Findings, PullRequest, Review, Vote, value_of
from gates.evidence import Person
from gates.rules import Finding, in_order, review
from gates.rules.review import Remark
from gates.security import Ballot, Deciders, SecurityEvidence, open_findings
from handlers.events import Actor
from handlers.ports import GitHubError, PullFacts
from handlers.steps.evidence import issue_author, names_head, on_hold, or_error, ours, person
from handlers.steps.looking import as_findings, findings_of
from handlers.steps.owners import Change, owners_of
from handlers.work import Work

GATE = "security"


async def security_facts(work: Work, number: int) -> SecurityEvidence | GitHubError | ValueError:
    """Everything that the gate looks at. Raises `Later` and `Unknown`, which are worth another look."""
    return await or_error(_gather(work, number))


async def _gather(work: Work, number: int) -> SecurityEvidence:
    github, repo = work.context.github, work.run.repo
    pull = await github.pulls.get(repo, number)
    bot = await github.people.bot()
    found, judged = _found(work, pull)
    facts = SecurityEvidence(
        head=pull.head_sha,
        base=pull.base_ref,
        meant_for=work.run.default_branch,
        draft=pull.draft,
        state="open" if pull.state == "open" else "closed",
        merged=pull.merged,
        complete=True,
        pushers=frozenset({bot.id}),
        unknown_pusher=not ours(work, pull),
        requester=work.run.requester.id,
        author=issue_author(work),
        bot=bot.id,
        reviews=(),
        standings=(),
        required=1,
        hold=await on_hold(work, number),
        judged=judged,
        findings=found,
    )
    return await _with_people(work, facts, number) if open_findings(facts) else facts


async def _with_people(work: Work, facts: SecurityEvidence, number: int) -> SecurityEvidence:
    """Who voted is looked up by id, live; the others' standing only tells whom to ask, and is taken from the list."""
    people, repo = work.context.github.people, work.run.repo
    writers = await people.with_write(repo)
    ballots, voters = _ballots(work, facts.head)
    standings = [await people.standing(repo, one) for one in voters]
    standings += [one for one in writers if one.user.type == "User" and one.user not in voters]
    known = {one.user.id: person(one) for one in standings}
    owned = await owners_of(work.context.github.rules, Change(repo, number, facts.base), writers)
    paths = {one.path for one in open_findings(facts)}
    found = [
        Deciders(path=path, people=group.people) for group in owned.groups for path in group.paths if path in paths
    ]
    return facts.model_copy(
        update={
            "deciders": tuple(found),
            "owners_unknown": owned.unknown,
            "ballots": ballots,
            "standings": tuple(known.values()),
            "writers": frozenset(one.user.id for one in writers if one.user.type == "User"),
        }
    )


def _found(work: Work, pull: PullFacts) -> tuple[tuple[Finding, ...], str]:
    """What was found in the live head, by the rules and by the reviewer agent, and the head that this is of: an empty
    text where one of them has not looked at it."""
    tree = next(
        (
            str(entry.value["tree"])
            for entry in reversed(work.state.entries("pull_request"))
            if entry.value["head_sha"] == pull.head_sha and entry.value["tree"]
        ),
        "",
    )
    found = findings_of(work, tree) if tree else None
    looked = _review(work, tree)
    if found is None or looked is None:
        return (), ""
    return in_order((*as_findings(found), *_remarks(looked, found))), pull.head_sha


def _review(work: Work, tree: str) -> Review | None:
    """The reviewer agent's newest word on a tree, if it is an approval."""
    known = (value_of(entry, Review) for entry in reversed(work.state.entries("review")))
    newest = next((one for one in known if one.tree == tree), None)
    return newest if newest is not None and newest.approved else None


def _remarks(looked: Review, found: Findings) -> Sequence[Finding]:
    remarks = [Remark(one.file, one.line, one.severity, one.category, one.message) for one in looked.comments]
    return tuple(review.examine(remarks, {one.path: one.blob for one in found.blobs}))


def _ballots(work: Work, head: str) -> tuple[tuple[Ballot, ...], tuple[Actor, ...]]:
    """Everybody's words at this gate, and everybody who said one."""
    ballots: list[Ballot] = []
    voters: dict[int, Actor] = {}
    for entry in work.state.entries("vote"):
        if entry.value.get("gate") != GATE or not entry.author.id:
            continue
        vote = value_of(entry, Vote)
        named = names_head(vote.words, head)
        ballots.append(
            Ballot(by=entry.author.id, digest=vote.digest, yes=vote.word == "yes", at=entry.at, names_head=named)
        )
        voters[entry.author.id] = Actor(id=entry.author.id, login=entry.author.name)
    return tuple(ballots), tuple(voters.values())


def pull_of(work: Work) -> PullRequest:
    """The pull request as the team saw it last. Raises `LookupError` without one."""
    pull = work.state.board.value("pull_request", PullRequest)
    if pull is None:
        raise LookupError("there is no pull request to judge")
    return pull


def decided_by(people: Sequence[Person]) -> list[str]:
    """The logins, for events."""
    return [one.login for one in people]
