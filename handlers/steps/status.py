"""The step that keeps the status comment true: woken by whatever the run's log gains, for as long as the run lives."""

from __future__ import annotations

from handlers.events import ENDINGS, Event
from handlers.messages import replies
from handlers.messages import status as message
from handlers.ports import Commit, Missing, RunFacts
from handlers.publisher import Effect, Receipt
from handlers.telling import cost_prompt, status_of, warnings
from handlers.votes import open_cost
from handlers.work import Work


class Status:
    """Remembers per run what the comment says, so that an unchanged text is not written again by this process."""

    def __init__(self) -> None:
        self._said: dict[str, str] = {}

    async def run(self, work: Work) -> Commit:
        """Post the comment once, then edit it in place; done when the run has ended."""
        facts = await work.context.store.runs.facts(work.run.id) or work.run
        url = f"{work.context.options.public_url}/runs/{facts.id}" if work.context.options.public_url else None
        text = message.render(status_of(facts, work.state, work.context.clock.now_ms(), url))
        if self._said.get(facts.id) != text:
            await self._write(work, text)
            self._said[facts.id] = text
        warned: tuple[Event, ...] = ()
        if facts.status == "open":
            await self._announce(work, facts)
            warned = warnings(facts, work.state)
        if facts.status in ENDINGS:
            self._said.pop(facts.id, None)
            return Commit("done")
        return Commit("parked", events=warned, retry_in_ms=work.context.options.status_gap_ms)

    async def _announce(self, work: Work, facts: RunFacts) -> None:
        """What people have to be told of by a notification, which an edited comment does not send; each once."""
        last = work.state.last("run_stuck", "run_parked", "run_resumed", "steered")
        if last is None:
            return
        told = f"{last.name}-{last.position}"
        if last.name == "run_stuck":
            text = replies.render(replies.Stuck(str(last.data.get("why", ""))))
        elif last.name == "run_parked" and last.data.get("why") == "budget":
            text, gate = replies.render(cost_prompt(facts, work.state)), open_cost(work.state)
            # Two steps side by side may both have asked: the same question is told once.
            told = f"cost-{gate.prompted_at}" if gate is not None else told
        else:
            return
        await work.publisher.comment(work.run.issue, told, text)

    async def _write(self, work: Work, text: str) -> None:
        issues, repo, number = work.context.github.issues, work.run.repo, work.run.issue
        mark = message.marker(work.run.id)

        fresh = False

        async def do() -> Receipt:
            nonlocal fresh
            fresh = True
            await issues.react(repo, "issue", number, "eyes")
            return {"comment": await issues.comment(repo, number, text)}

        async def find() -> Receipt | None:
            for comment in await issues.comments(repo, number):
                if comment.by_us and mark in comment.body:
                    return {"comment": comment.id}
            return None

        async def undo(made: Receipt) -> None:
            await issues.delete_comment(repo, int(str(made["comment"])))

        receipt = await work.publisher.once(Effect("comment:status", do, find, undo))
        if fresh:
            return
        try:
            await issues.edit_comment(repo, int(str(receipt["comment"])), text)
        except Missing:
            # Somebody removed the comment: that is their word, the run's page still tells.
            return
