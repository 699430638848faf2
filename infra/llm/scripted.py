"""The scripted model: a Messages API over HTTP that plays a script (`infra.llm.script`).

It answers from the request alone: the role is the first line of the system prompt (`role: NAME`), the round a line
`round: N` in the first user message (1 when there is none), the turn one more than the replies in the request. The
same request gets the same answer, after any crash. What the script does not hold is an HTTP 500 that names role, round
and turn. Requests that the real API would refuse are refused. Token figures are estimates (`TokenEstimate`).
Every answer says what it is: `model` is "scripted" and the header `x-seconder-script` holds the script's title.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import socket
from collections import deque
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import uvicorn
from pydantic import JsonValue
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from infra.llm.faults import Fault, Faults
from infra.llm.request import (
    BadRequest,
    Block,
    MessagesRequest,
    Place,
    TokenEstimate,
    place_of,
    read_request,
    thinking_signature,
)
from infra.llm.script import MissingTurn, Script, ScriptTurn, load_script
from infra.llm.stream import Answer, body, error_body

MODEL_NAME = "scripted"
SCRIPT_HEADER = "x-seconder-script"


@dataclass(frozen=True)
class Seen:
    """One request to POST /v1/messages: where in the script it stood, and its body."""

    place: Place
    request: MessagesRequest


class ScriptedModel:
    """Plays one script. `app` is the ASGI application; `serve` runs it on loopback.

    `latency` overrides the script's pause, in seconds. `faults` is for tests. `seen` keeps the last 200 requests.
    """

    def __init__(self, script: Script, *, latency: float | None = None, faults: Faults | None = None) -> None:
        self.script = script
        self.url = ""
        self.seen: deque[Seen] = deque(maxlen=200)
        self._latency = latency
        self._faults = faults if faults is not None else Faults()
        self._tokens = TokenEstimate()
        self._closing = asyncio.Event()
        self.app = Starlette(
            routes=[
                Route("/v1/messages", self._messages, methods=["POST"]),
                Route("/v1/messages/count_tokens", self._count, methods=["POST"]),
                Route("/v1/models", self._models),
                Route("/v1/models/{name}", self._model),
                Route("/{path:path}", self._nowhere, methods=["GET", "POST"]),
            ]
        )

    @classmethod
    @contextlib.asynccontextmanager
    async def serve(
        cls, script: Path | Script, port: int = 0, latency: float | None = None, faults: Faults | None = None
    ) -> AsyncIterator[ScriptedModel]:
        """Serve a script on 127.0.0.1 while the context is open; `url` is the base URL. Port 0 takes a free one.

        Raises `ScriptError` for a script that cannot be played and `OSError` for a port that is taken.
        """
        model = cls(load_script(script) if isinstance(script, Path) else script, latency=latency, faults=faults)
        with socket.create_server(("127.0.0.1", port)) as listener:
            # Accepted connections inherit it; else each small answer waits 40 ms for a delayed acknowledgement.
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            model.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
            config = uvicorn.Config(
                model.app, lifespan="off", log_config=None, log_level="critical", timeout_graceful_shutdown=2
            )
            server = _Server(config)
            running = asyncio.create_task(server.serve(sockets=[listener]))
            try:
                await server.ready.wait()
                yield model
            finally:
                model._closing.set()
                server.should_exit = True
                await running

    async def _messages(self, http: Request) -> Response:
        raw = await http.body()
        try:
            request = read_request(raw)
            place = place_of(request)
        except BadRequest as error:
            return self._error(400, "invalid_request_error", str(error), _request_id(raw))
        self.seen.append(Seen(place, request))
        fault = self._faults.take(place.role, place.round, place.turn)
        if fault is not None and fault.kind == "error":
            answer = self._error(fault.status, fault.error_type, fault.message, _request_id(raw), fault.error_code)
            answer.headers.update(dict(fault.headers))
            return answer
        if fault is not None and fault.kind == "hang":
            await self._closing.wait()
        try:
            turn = self.script.turn(place.role, place.round, place.turn)
        except MissingTurn as error:
            return self._error(500, "api_error", str(error), _request_id(raw))
        await asyncio.sleep(self._pause(turn))
        return self._answer(request, _faulty(self._compose(request, place, turn, raw), fault), fault, _request_id(raw))

    def _pause(self, turn: ScriptTurn) -> float:
        if self._latency is not None:
            return self._latency
        return self.script.latency_s if turn.latency_s is None else turn.latency_s

    def _compose(self, request: MessagesRequest, place: Place, turn: ScriptTurn, raw: bytes) -> Answer:
        content: list[Block] = []
        if turn.think is not None:
            content.append({"type": "thinking", "thinking": turn.think, "signature": thinking_signature(turn.think)})
        if turn.say is not None:
            content.append({"type": "text", "text": turn.say})
        for index, call in enumerate(turn.all_calls):
            key = f"{place.role}/{place.round}/{place.turn}/{index}"
            call_id = "toolu_" + hashlib.sha256(key.encode()).hexdigest()[:24]
            content.append({"type": "tool_use", "id": call_id, "name": call.tool, "input": call.input})
        message: dict[str, JsonValue] = {
            "id": "msg_" + hashlib.sha256(raw).hexdigest()[:24],
            "type": "message",
            "role": "assistant",
            "model": MODEL_NAME,
            "stop_reason": "tool_use" if turn.all_calls else "end_turn",
            "stop_sequence": None,
            "usage": self._tokens.usage(request, content),
        }
        return Answer(message, content, {})

    def _answer(self, request: MessagesRequest, answer: Answer, fault: Fault | None, request_id: str) -> Response:
        headers = self._headers(request_id)
        if not request.stream:
            return JSONResponse({**answer.message, "content": answer.content}, headers=headers)
        chunks = body(answer, fault, request_id, self._closing)
        return StreamingResponse(chunks, media_type="text/event-stream", headers=headers)

    async def _count(self, http: Request) -> Response:
        raw = await http.body()
        try:
            request = read_request(raw, counting=True)
        except BadRequest as error:
            return self._error(400, "invalid_request_error", str(error), _request_id(raw))
        return JSONResponse(
            {"input_tokens": self._tokens.prompt_tokens(request)}, headers=self._headers(_request_id(raw))
        )

    async def _models(self, http: Request) -> Response:
        listing = {"data": [_model_info(MODEL_NAME)], "has_more": False, "first_id": MODEL_NAME, "last_id": MODEL_NAME}
        return JSONResponse(listing, headers=self._headers(_request_id(b"models")))

    async def _model(self, http: Request) -> Response:
        name = str(http.path_params["name"])
        return JSONResponse(_model_info(name), headers=self._headers(_request_id(name.encode())))

    async def _nowhere(self, http: Request) -> Response:
        return self._error(404, "not_found_error", f"{http.method} {http.url.path}", _request_id(b"nowhere"))

    def _error(
        self, status: int, error_type: str, message: str, request_id: str, error_code: str | None = None
    ) -> JSONResponse:
        content = error_body(error_type, message, request_id, error_code)
        return JSONResponse(content, status_code=status, headers=self._headers(request_id))

    def _headers(self, request_id: str) -> dict[str, str]:
        return {"request-id": request_id, SCRIPT_HEADER: quote(self.script.script, safe=" '!,.:;()/")}


class _Server(uvicorn.Server):
    """A server that leaves the process's signals to whoever runs it, and says when it is up."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        try:
            await super().startup(sockets)
        finally:
            self.ready.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _request_id(raw: bytes) -> str:
    return "req_" + hashlib.sha256(raw).hexdigest()[:20]


def _model_info(name: str) -> dict[str, JsonValue]:
    return {"id": name, "type": "model", "display_name": "Scripted model", "created_at": "2026-01-01T00:00:00Z"}


def _faulty(answer: Answer, fault: Fault | None) -> Answer:
    """The answer as a planned fault turns it."""
    kind = fault.kind if fault is not None else ""
    if kind in ("refusal", "empty"):
        return Answer({**answer.message, "stop_reason": "refusal" if kind == "refusal" else "end_turn"}, [], {})
    if kind == "pause_turn":
        words: list[Block] = [block for block in answer.content if block["type"] != "tool_use"]
        return Answer({**answer.message, "stop_reason": kind}, words or [{"type": "text", "text": "One moment."}], {})
    if kind == "max_tokens":
        return _cut_short(answer)
    call: Block = {"type": "tool_use", "id": "toolu_planned_fault", "name": "no_such_tool", "input": {}}
    if kind == "unknown_tool":
        return Answer({**answer.message, "stop_reason": "tool_use"}, [call], {})
    if kind == "bad_tool_json":
        return Answer({**answer.message, "stop_reason": "tool_use"}, [call], {0: '{"path": "a.py"}}]'})
    return answer


def _cut_short(answer: Answer) -> Answer:
    """Only the last block is cut: a model that runs out of tokens stops in what it was writing."""
    *whole, last = answer.content
    message = {**answer.message, "stop_reason": "max_tokens"}
    if last["type"] == "text":
        text = str(last["text"])
        return Answer(message, [*whole, {**last, "text": text[: max(1, len(text) // 2)]}], {})
    return Answer(message, answer.content, {len(whole): '{"path": "src/ta'} if last["type"] == "tool_use" else {})
