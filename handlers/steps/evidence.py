"""Live facts for a gate: fetched whole, or handed on as the error that kept them from being fetched."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import TypeVar

from agents.board import Issue, PullRequest, Vote, value_of
from gates.evidence import MergeAsk, Person, PullEvidence, ReviewEvidence
from handlers.configs import bounded, read
from handlers.events import Actor
from handlers.ports import GitHubError, Later, PullFacts, ReviewFacts, Standing, Unknown
from handlers.pulls import HOLD
from handlers.steps.owners import Change, required
from handlers.work import Work

Evidence = TypeVar("Evidence")
SHORTEST_NAME = 7
# Together well below the number of times that a step is tried.
LONGEST_LAG_MS, LOOK_AGAIN_S = 15_000, 3.0


async def or_error(gathering: Awaitable[Evidence]) -> Evidence | GitHubError | ValueError:
    """What was gathered, or the error that kept it from being: a gate judges both, and an error shuts it.

    Raises `Later` and `Unknown`, which are worth another look.
    """
    try:
        return await gathering
    except (Later, Unknown):
        raise
    except (GitHubError, ValueError) as error:
        return error


async def pull_evidence(work: Work, number: int) -> PullEvidence | GitHubError | ValueError:
    """Everything that the pull request's gates look at. Raises `Later` and `Unknown`, which are worth another look."""
    return await or_error(_gather(work, number))


async def _gather(work: Work, number: int) -> PullEvidence:
    github, repo = work.context.github, work.run.repo
    pull = await github.pulls.get(repo, number)
    reviews = await github.reviews.list(repo, number)
    _wait_for_the_list(work, reviews)
    hold = await on_hold(work, number)
    bot = await github.people.bot()
    writers = await github.people.with_write(repo)
    asks = _asks(work)
    options = bounded(work.context.options, (await read(work.context, repo, work.run.default_branch)).config)
    rules = await github.rules.of_branch(repo, pull.base_ref)
    owned = await required(github.rules, Change(repo, number, pull.base_ref), rules, writers)
    # Who said something is looked up by id. The others' standing decides nothing, it tells whom to ask: it is taken
    # from the list, since a look at each of hundreds at every comment would use up what GitHub allows.
    speakers = {review.author.id: review.author for review in reviews if review.author is not None}
    speakers |= {one.user.id: one.user for one in writers if one.user.id in {ask.by for ask in asks}}
    standings = [await github.people.standing(repo, who) for who in speakers.values() if who.type == "User"]
    standings += [one for one in writers if one.user.id not in speakers and one.user.type == "User"]
    return PullEvidence(
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
        bot=bot.id,
        reviews=tuple(_review(review, pull.head_sha) for review in reviews),
        standings=tuple(person(one) for one in standings),
        required=max(options.required_approvals, rules.approvals),
        requester_may_approve=options.requester_may_approve,
        writers=frozenset(one.user.id for one in writers if one.user.type == "User"),
        asks=asks,
        hold=hold,
        author=issue_author(work),
        owners=owned.groups,
        owners_unknown=owned.unknown,
    )


def _wait_for_the_list(work: Work, reviews: Sequence[ReviewFacts]) -> None:
    """A delivery can be ahead of the list: nothing would wake the gate again when the review is listed at last.

    Raises `Later` where a review that was delivered a moment ago is not listed yet.
    """
    listed = {review.url for review in reviews}
    since = work.context.clock.now_ms() - LONGEST_LAG_MS
    for entry in work.state.board.all():
        if entry.kind == "vote" and entry.at > since:
            vote = value_of(entry, Vote)
            if vote.via == "review" and vote.url and vote.url not in listed:
                raise Later(f"GitHub does not list {vote.url} yet", LOOK_AGAIN_S)


async def on_hold(work: Work, number: int) -> bool:
    """Whether the label that stops everything is on the issue or the pull request."""
    issues, repo = work.context.github.issues, work.run.repo
    labels = [label for one in (work.run.issue, number) for label in (await issues.get(repo, one)).labels]
    return any(label.casefold() == HOLD for label in labels)


def issue_author(work: Work) -> int | None:
    """Who wrote the issue, by id; None for a deleted account."""
    return next((value_of(entry, Issue).author_id or None for entry in work.state.entries("issue")), None)


def ours(work: Work, pull: PullFacts) -> bool:
    """Whether every commit at the head is ours by receipt, and the head sits in the repository itself."""
    pushed = {str(receipt.get("sha")) for receipt in work.state.receipts.values() if "sha" in receipt}
    return pull.head_sha in pushed and pull.head_repo_id == work.run.repo.id


def _asks(work: Work) -> tuple[MergeAsk, ...]:
    votes = [entry for entry in work.state.entries("vote") if entry.author.id]
    return tuple(
        MergeAsk(by=entry.author.id or 0, head=value_of(entry, Vote).digest, at=entry.at)
        for entry in votes
        if value_of(entry, Vote).gate == "merge" and value_of(entry, Vote).word == "yes"
    )


def person(standing: Standing) -> Person:
    """A live standing, as evidence."""
    return Person(
        id=standing.user.id, login=standing.user.login, type=standing.user.type, permission=standing.permission
    )


def _author(author: Actor | None) -> Person | None:
    return None if author is None else Person(id=author.id, login=author.login, type=author.type)


def _review(review: ReviewFacts, head: str) -> ReviewEvidence:
    return ReviewEvidence.model_validate(
        {
            "id": review.id,
            "state": review.state,
            "commit": review.commit,
            "author": _author(review.author),
            "submitted_at": review.submitted_at,
            "names_head": names_head(review.body, head),
        }
    )


def names_head(words: str, head: str) -> bool:
    """Whether a text names the head by at least seven digits of its SHA."""
    plain = [word.strip(".,:;()") for word in words.lower().replace("`", " ").split()]
    return any(len(word) >= SHORTEST_NAME and head.startswith(word) for word in plain)


def current_pull(work: Work) -> PullRequest:
    """The pull request that the gate was opened for."""
    return value_of(work.need("pull_request"), PullRequest)
