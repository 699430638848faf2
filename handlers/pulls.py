"""What happens on our pull requests besides commands: reviews, pushes, closing. Each wakes the steps that wait."""

from __future__ import annotations

from agents.board import Author, Entry, HumanNote, Vote
from handlers.context import Context
from handlers.events import (
    CommentAdded,
    Event,
    IssueClosed,
    IssueEvent,
    PrClosed,
    PullEvent,
    ReviewSubmitted,
)
from handlers.messages.hidden import strip_hidden
from handlers.ports import RunFacts, Standing, Word

HOLD = "seconder:hold"
WORDS = {"approved": "yes", "changes_requested": "no", "dismissed": "no"}


async def review(context: Context, event: Event) -> None:
    """A native review is a vote at the quality gate, written down with who, when and on which head."""
    given = ReviewSubmitted.model_validate(event.data)
    run = await context.store.runs.find(given.repo, pull=given.number)
    if run is None:
        return
    entries: tuple[Entry, ...] = ()
    if given.state in WORDS and given.author.type == "User" and given.head is not None:
        vote = Vote.model_validate(
            {
                "gate": "quality",
                "digest": given.head,
                "word": WORDS[given.state],
                "words": given.body[:2_000],
                "via": "dismissal" if given.state == "dismissed" else "review",
                "url": given.url,
            }
        )
        who = given.sender if given.state == "dismissed" else given.author
        author = Author(kind="person", name=who.login, id=who.id)
        entries = (_entry(f"vote.quality.{event.id}", "vote", vote, author, context.clock.now_ms()),)
    await say(context, run, Word(event.id, entries=entries))


async def pull_changed(context: Context, event: Event) -> None:
    """A push, an edit or a merge: whoever waits for people looks at the live facts again."""
    change = PullEvent.model_validate(event.data)
    run = await context.store.runs.find(change.repo, pull=change.number)
    if run is not None:
        await say(context, run, Word(event.id))


async def pull_closed(context: Context, event: Event) -> None:
    """Our pull request was closed without a merge: that ends the run."""
    closed = PrClosed.model_validate(event.data)
    run = await context.store.runs.find(closed.repo, pull=closed.number)
    if run is None:
        return
    now = await context.github.pulls.get(closed.repo, closed.number)
    if now.state != "open" and not now.merged:
        await context.store.runs.cancel(run, event.id, f"{closed.sender.login} closed the pull request")
    else:
        await say(context, run, Word(event.id))
    await _hint(context)


async def issue_closed(context: Context, event: Event) -> None:
    """The issue was closed while the team was at work. When our merge closed it, the run ends as merged instead."""
    closed = IssueClosed.model_validate(event.data)
    run = await context.store.runs.find(closed.repo, issue=closed.number)
    if run is None or closed.is_pull_request:
        return
    facts = await context.store.runs.facts(run)
    if facts is None or facts.status != "open":
        return
    if facts.pull is not None and (await context.github.pulls.get(closed.repo, facts.pull)).merged:
        await say(context, run, Word(event.id))
        return
    if (await context.github.issues.get(closed.repo, closed.number)).state == "open":
        return
    await context.store.runs.cancel(run, event.id, f"{closed.sender.login} closed the issue")
    await _hint(context)


async def hold_changed(context: Context, event: Event) -> None:
    """A label was set or removed on the issue or our pull request: the gates look again, and where `seconder:hold` came
    or went, the run stops at its next step or goes on."""
    labeled = IssueEvent.model_validate(event.data)
    on_pull, number = labeled.is_pull_request, labeled.number
    runs = context.store.runs
    run = await (runs.find(labeled.repo, pull=number) if on_pull else runs.find(labeled.repo, issue=number))
    facts = await context.store.runs.facts(run) if run is not None else None
    if run is None or facts is None:
        return
    events: tuple[Event, ...] = ()
    if facts.status == "open":
        held = await is_held(context, facts)
        if held != (await context.states.of(run, context.store.runs)).held:
            events = (hold_event(run, event.id, held),)
    await say(context, run, Word(event.id, events=events))


async def is_held(context: Context, run: RunFacts) -> bool:
    """Whether the label `seconder:hold` is on the run's issue or its pull request, as they are now."""
    numbers = [run.issue] if run.pull is None else [run.issue, run.pull]
    labels = [name for number in numbers for name in (await context.github.issues.get(run.repo, number)).labels]
    return any(label.casefold() == HOLD for label in labels)


def hold_event(run: str, cause: str, held: bool) -> Event:
    """That the run is held from now on, or goes on."""
    return Event(id=f"{cause}:hold", name="hold_set" if held else "hold_lifted", run=run, cause=cause)


async def comment(context: Context, event: Event) -> None:
    """A plain comment answers the team's open questions, if its author has write; otherwise it is none of ours."""
    added = CommentAdded.model_validate(event.data)
    if added.author.type != "User" or added.where != "issue" or added.on_pull_request:
        return
    run = await context.store.runs.find(added.repo, issue=added.number)
    if run is None or not await _asked(context, run):
        return
    standing = await context.github.people.standing(added.repo, added.author)
    if standing.at_least("write"):
        await say(context, run, _answer(context, event, added, standing))


async def say(context: Context, run: str, word: Word) -> bool:
    """Write down a word and hint that something is due; False when it was known or the run has ended."""
    said = await context.store.runs.vote(run, word)
    await _hint(context)
    return said


async def _hint(context: Context) -> None:
    await context.wake.wake(await context.store.tasks.due(50))


async def _asked(context: Context, run: str) -> bool:
    state = await context.states.of(run, context.store.runs)
    return any(step.node == "ask" for step in state.open_steps())


def _answer(context: Context, event: Event, added: CommentAdded, standing: Standing) -> Word:
    note = HumanNote(text=strip_hidden(added.body), via="answer", url=added.url)
    author = Author(kind="person", name=standing.user.login, id=standing.user.id)
    entry = _entry(f"human_note.{event.id}", "human_note", note, author, context.clock.now_ms())
    return Word(event.id, entries=(entry,))


def _entry(entry_id: str, kind: str, value: Vote | HumanNote, author: Author, at: int) -> Entry:
    return Entry(id=entry_id, kind=kind, value=value.model_dump(mode="json"), author=author, at=at)
