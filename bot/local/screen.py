"""What a terminal shows: one line per thing that happens, then the pull request with its diff and checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

from agents.board import Entry, TestResults
from handlers.lines import line_of
from handlers.messages.hidden import strip_hidden
from handlers.ports import LogRecord
from handlers.state import Bill, RunState

QUIET = frozenset({"status", "close"})
NAME_WIDTH = 17
DIFF_LINES = 120
SCRIPT_NOTE = "A script plays the model: tokens are estimated, dollars are what they would cost at list price."


class Screen:
    """Prints a run as its log grows. Feed it every record once, in order."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.state = RunState()
        self._started_at = 0
        self._billed: dict[str, Bill] = {}

    def say(self, text: str, style: str = "") -> None:
        """One line of our own."""
        self.console.print(Text(text, style=style), soft_wrap=True)

    def record(self, record: LogRecord) -> None:
        """Fold a record in, and print it if it is something that a person wants to see."""
        self._started_at = self._started_at or record.at
        self.state.feed([record])
        match record.type:
            case "entry":
                self._entry(Entry.model_validate(record.data), record.at)
            case "activated":
                self._activated(record)
            case "turn":
                self._turn(record)
            case "note" if record.data.get("error"):
                self._line(record.at, str(record.data.get("node")), f"again soon: {record.data['error']}", "yellow")
            case "event":
                self._event(record)

    def _line(self, at: int, who: str, what: str, style: str = "", tail: str = "") -> None:
        """`  3.1 s  developer          what`, one line on a terminal's width; a tail goes to a line of its own."""
        clean = " ".join(strip_hidden(what).split())
        text = Text.assemble(
            (f"{(at - self._started_at) / 1000:7.1f} s  ", "dim"),
            (f"{who.replace('_', ' '):<{NAME_WIDTH}} ", "bold"),
            (clean, style),
        )
        text.truncate(max(60, self.console.width), overflow="ellipsis")
        self.console.print(text, no_wrap=True)
        if tail:
            self.console.print(Text(" " * (12 + NAME_WIDTH) + tail, style="dim"), no_wrap=True)

    def _activated(self, record: LogRecord) -> None:
        node, visit = str(record.data["node"]), int(str(record.data["visit"]))
        if node not in QUIET and node not in ("quality", "merge"):
            again = f" again, round {visit}" if visit > 1 else ""
            self._line(record.at, node, f"at work{again} …", "dim")

    def _turn(self, record: LogRecord) -> None:
        tools = record.data.get("tools")
        if record.data.get("kind") == "reply" and isinstance(tools, Sequence):
            used = [str(tool) for tool in tools if tool != "submit"]
            if used:
                self._line(record.at, str(record.data["node"]), f"uses {', '.join(used)}", "dim cyan")

    def _entry(self, entry: Entry, at: int) -> None:
        style = _style_of(entry)
        on_board = sum(1 for one in self.state.board.all() if one.kind not in ("vote",))
        tail = f"+ {entry.kind} on the board ({on_board} {'entry' if on_board == 1 else 'entries'})"
        self._line(at, entry.author.name, line_of(entry), style, f"{self._spent(entry.author.name)}{tail}")

    def _spent(self, node: str) -> str:
        """What the node used since its last entry."""
        bill, before = self.state.bills.get(node), self._billed.get(node, Bill())
        if bill is None or bill.calls == before.calls:
            return ""
        self._billed[node] = Bill(bill.calls, bill.tokens_in, bill.tokens_out, bill.cached, bill.cost, bill.seconds)
        tokens = bill.tokens_in + bill.tokens_out - before.tokens_in - before.tokens_out
        calls, cost = bill.calls - before.calls, bill.cost - before.cost
        return f"{calls} calls, {tokens:,} tokens, {dollars(cost)}, {bill.seconds - before.seconds:.1f} s; "

    def _event(self, record: LogRecord) -> None:
        name, data = str(record.data["name"]), record.data.get("data")
        data = data if isinstance(data, Mapping) else {}
        match name:
            case "gate_opened":
                need = str(data.get("need") or data.get("why") or "people")
                self._line(record.at, f"{data.get('gate')} gate", f"waits for {need}", "bold yellow")
            case "gate_resolved":
                by = data.get("by")
                who = ", ".join(str(one) for one in by) if isinstance(by, Sequence) else ""
                how = f"opened by {who}" if who else "passes: nothing needs a person"
                self._line(record.at, f"{data.get('gate')} gate", how, "bold green")
            case "run_stuck":
                self._line(record.at, "stuck", str(data.get("why")), "bold red")
            case "visits_exhausted":
                self._line(record.at, str(data.get("node")), "has used all its rounds", "bold red")
            case "run_parked":
                self._line(
                    record.at, "paused", f"the budget is used up (left: {dollars(_int(data.get('left')))})", "red"
                )

    def pull_request(self, title: str, url: str, diff: str, checks: Sequence[tuple[str, str, str]]) -> None:
        """The pull request as a person would look at it: title, address, diff, checks."""
        self.console.print()
        self.console.rule(Text(f"Pull request: {strip_hidden(title)}", style="bold"), align="left")
        self.say(url, "underline")
        self.console.print()
        lines = strip_hidden(diff).splitlines()
        shown = "\n".join(lines[:DIFF_LINES])
        if self.console.is_terminal:
            self.console.print(Syntax(shown, "diff", theme="ansi_dark", background_color="default"))
        else:
            self.console.print(Text(shown), soft_wrap=True)
        if len(lines) > DIFF_LINES:
            self.say(f"… {len(lines) - DIFF_LINES} more lines in the pull request", "dim")
        self.console.print()
        for name, conclusion, summary in checks:
            style = "green" if conclusion == "success" else "yellow"
            self.console.print(
                Text.assemble(("check ", "dim"), (name, "bold"), ": ", (conclusion, style), f"  {summary}")
            )

    def bill(self, scripted: bool) -> None:
        """What the run used in all."""
        bills = self.state.bills.values()
        tokens = sum(bill.tokens_in + bill.tokens_out for bill in bills)
        cached = sum(bill.cached for bill in bills)
        calls, cost = sum(bill.calls for bill in bills), sum(bill.cost for bill in bills)
        seconds = sum(bill.seconds for bill in bills)
        share = f", {cached * 100 // tokens} % of them read from the cache" if tokens else ""
        self.say(f"{calls} model calls, {tokens:,} tokens{share}, {dollars(cost)}, {seconds:.1f} s of answers")
        if scripted:
            self.say(SCRIPT_NOTE, "dim")

    def reply(self, body: str) -> None:
        """A comment of the bot that answers a command."""
        lines = [line for line in strip_hidden(body).splitlines() if not line.startswith("<!--")]
        for line in lines:
            self.console.print(Text.assemble(("  │ ", "dim"), line), soft_wrap=True)


def dollars(micro: int) -> str:
    """Micro-dollars for a terminal, to a tenth of a cent."""
    return f"${micro / 1_000_000:.3f}"


def _int(value: object) -> int:
    return value if isinstance(value, int) else 0


def _style_of(entry: Entry) -> str:
    if entry.kind == "test_results":
        outcome = TestResults.model_validate(entry.value).outcome
        return {"passed": "green", "failed": "red"}.get(outcome, "yellow")
    if entry.kind == "review":
        return "green" if entry.value["approved"] else "yellow"
    return ""
