"""One run as a page, and live as server-sent events.

Source: WHATWG HTML, Server-sent events, https://html.spec.whatwg.org/multipage/server-sent-events.html.
"""

from __future__ import annotations

import asyncio
import json
import unicodedata
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

import jinja2
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse

from handlers.ports import Events, LogRecord, RunFacts, StoreDown

SHOWN_RECORDS = 200
SHOWN_CHARACTERS = 500
WEB = Path(__file__).parent


class Runs(Protocol):
    """What the pages need of `handlers.ports.RunLog`."""

    async def facts(self, run: str) -> RunFacts | None: ...

    async def read(self, run: str, after: int) -> Sequence[LogRecord]: ...


@dataclass(frozen=True)
class Line:
    """A log record as it is shown."""

    position: int
    time: str
    type: str
    text: str


class RunPages:
    """`/runs/{run}` and `/runs/{run}/events`. At most `streams` events streams at once; `heartbeat_s` in seconds."""

    def __init__(self, runs: Runs, events: Events, heartbeat_s: float = 15.0, streams: int = 50) -> None:
        self._runs, self._events = runs, events
        self._heartbeat_s, self._streams = heartbeat_s, streams
        self._open = 0
        loader = jinja2.FileSystemLoader(WEB / "templates")
        self._pages = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined)

    async def page(self, request: Request) -> Response:
        """The run's facts and the end of its log."""
        facts = await self._runs.facts(request.path_params["run"])
        if facts is None:
            return _unknown()
        records = await self._runs.read(facts.id, max(0, facts.length - SHOWN_RECORDS))
        lines = [line(record) for record in records[-SHOWN_RECORDS:]]
        last = lines[-1].position if lines else 0
        template = self._pages.get_template("run.html.j2")
        return HTMLResponse(template.render(run=facts, lines=lines, last=last, dollars=_dollars))

    async def events(self, request: Request) -> Response:
        """The run's log records as they come, behind `Last-Event-ID` (or `?after=` on the first connection)."""
        facts = await self._runs.facts(request.path_params["run"])
        if facts is None:
            return _unknown()
        after = request.headers.get("last-event-id") or request.query_params.get("after") or "0"
        if not (after.isascii() and after.isdigit() and len(after) <= 15):
            return PlainTextResponse("Last-Event-ID is a position in the log: a whole number.\n", status_code=400)
        if self._open >= self._streams:
            return PlainTextResponse(
                "Too many live views at once; close one.\n", status_code=503, headers={"retry-after": "10"}
            )
        return StreamingResponse(self._follow(facts.id, int(after)), media_type="text/event-stream")

    async def _follow(self, run: str, after: int) -> AsyncIterator[bytes]:
        """Frames until the log ends or the reader goes; a comment line now and then keeps proxies from cutting it."""
        self._open += 1
        source = self._events.follow(run, after)
        coming = asyncio.create_task(_next(source))
        try:
            yield b"retry: 1000\n\n"
            while True:
                await asyncio.wait({coming}, timeout=self._heartbeat_s)
                if not coming.done():
                    yield b": still here\n\n"
                    continue
                try:
                    record = coming.result()
                except StoreDown:
                    return  # the reader asks again, from where it was
                if record is None:
                    yield b"event: end\ndata: {}\n\n"
                    return
                yield frame(record)
                coming = asyncio.create_task(_next(source))
        finally:
            self._open -= 1
            coming.cancel()
            with suppress(asyncio.CancelledError):
                await coming
            if isinstance(source, AsyncGenerator):
                await source.aclose()


async def _next(source: AsyncIterator[LogRecord]) -> LogRecord | None:
    """The next record, or None when there will be none."""
    return await anext(source, None)


def frame(record: LogRecord) -> bytes:
    """One record as one event. JSON in ASCII has no line breaks, so no text in it can forge a frame."""
    shown = line(record)
    data = {"position": record.position, "type": record.type, "at": record.at, "text": shown.text, "data": record.data}
    return f"id: {record.position}\nevent: record\ndata: {json.dumps(data, default=str)}\n\n".encode("ascii")


def line(record: LogRecord) -> Line:
    """One record as one line of text."""
    when = datetime.fromtimestamp(record.at / 1000, UTC).strftime("%H:%M:%S")
    return Line(record.position, when, record.type, visible(_compact(record.data)))


def visible(text: str) -> str:
    """Text in which characters that cannot be seen, or that turn others around, are written out."""
    hidden = {"Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp"}
    return "".join(f"<U+{ord(c):04X}>" if unicodedata.category(c) in hidden else c for c in text)


def _compact(data: Mapping[str, object]) -> str:
    """A record's data in a line, cut when long."""
    text = json.dumps(data, ensure_ascii=False, default=str)
    return text if len(text) <= SHOWN_CHARACTERS else text[:SHOWN_CHARACTERS] + "…"


def _dollars(micro: int) -> str:
    """Micro-dollars as people write them."""
    return f"${micro / 1_000_000:.2f}"


def _unknown() -> Response:
    return PlainTextResponse("There is no such run.\n", status_code=404)
