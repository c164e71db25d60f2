"""A JSON-RPC client for one MCP server: requests, progress, cancelling, answers to what the server asks."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from workbench.engine.events import Emit, ServerOutput, WireMessage
from workbench.engine.ports import Progress
from workbench.mcp.framing import Envelope, decode, encode
from workbench.mcp.wire import Outgoing, Wire

METHOD_NOT_FOUND = -32601
_INTERNAL_ERROR = -32603
_CANCEL_SECONDS = 2.0
_REMEMBERED_STDERR_LINES = 200


class RpcError(Exception):
    """The server answered with a JSON-RPC error; ``str()`` is its message."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class NoJsonForm(Exception):
    """What should be sent can't be written as JSON."""


class ConnectionLost(Exception):
    """The other end is gone, or does not listen any more."""


Respond = Callable[[str, Any, int | None], Awaitable[Any]]
"""Answers what a server asks: method, params, and the visit under way. May raise ``RpcError``."""


class Answer(Struct, frozen=True):
    """The result of a request, not decoded yet; when the request was written, and when the answer's first byte came.

    Both are Unix seconds.
    """

    result: msgspec.Raw
    written: float
    came: float


class _Request(Struct):
    answer: asyncio.Future[tuple[msgspec.Raw, float]]
    on_progress: Callable[[Progress], None] | None


class Connection:
    """What is said to one server and what it says; every line is emitted as an event before it is handled."""

    def __init__(self, alias: str, emit: Emit, respond: Respond) -> None:
        self.alias = alias
        self.stderr: deque[str] = deque(maxlen=_REMEMBERED_STDERR_LINES)
        self.lost = asyncio.Event()
        self.why_lost = ""
        """Why nothing comes any more, where the end of a process does not say it."""
        self._emit = emit
        self._respond = respond
        self._wire: Wire | None = None
        self._numbers = itertools.count(1)
        self._requests: dict[int | str, _Request] = {}
        self._visits: dict[int | str, int] = {}
        self._answers: dict[int | str, asyncio.Task[None]] = {}

    async def open(self, wire: Wire) -> None:
        """Begin to talk over a wire that was made for this connection. Raises ``OSError``."""
        self._wire = wire
        await wire.open()

    async def request(
        self,
        method: str,
        params: Mapping[str, Any],
        *,
        visit: int | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> Answer:
        """Ask, and wait for the answer.

        Cancelling tells the server. Raises ``RpcError``, ``ConnectionLost``, ``NoJsonForm``.
        """
        number = next(self._numbers)
        if visit is not None:
            self._visits[number] = visit
            params = {**params, "_meta": {**params.get("_meta", {}), "progressToken": number}}
        try:
            line = encode({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        except (TypeError, ValueError) as error:
            raise NoJsonForm(str(error)) from error
        answer: asyncio.Future[tuple[msgspec.Raw, float]] = asyncio.get_running_loop().create_future()
        answer.add_done_callback(lambda done: done.cancelled() or done.exception())  # it may come before it is awaited
        self._requests[number] = _Request(answer, on_progress)
        try:
            await self._send(line, method, number, visit)
            written = time.time()
            if self.lost.is_set():  # before there was a request that could have heard of it
                raise ConnectionLost
            result, came = await answer
            return Answer(result, written, came)
        except asyncio.CancelledError:
            if method != "initialize":  # the protocol has no way to take that back
                await self._cancel(number)
            raise
        finally:
            self._requests.pop(number, None)

    async def notify(self, method: str, params: Mapping[str, Any] | None = None, *, about: int | None = None) -> None:
        """Send a notification; ``about`` is the request it belongs to. Raises ``ConnectionLost``."""
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        await self._send(encode(message), method, None, self._visits.get(about or 0))

    @property
    def busy(self) -> bool:
        """Whether an answer is still to come."""
        return bool(self._requests)

    async def finish(self) -> None:
        """Tell the server that nothing more will be asked."""
        if self._wire is not None:
            await self._wire.finish()

    async def drain(self, seconds: float) -> None:
        """Wait until all that an ended server has said is heard."""
        if self._wire is not None:
            await self._wire.drain(seconds)

    async def close(self) -> None:
        """Let go of the wire; whoever still waits gets ``ConnectionLost``."""
        for task in list(self._answers.values()):
            task.cancel()
        if self._wire is not None:
            await self._wire.close()
        self._fail_all()

    # ---- what comes over the wire

    def received(self, envelope: Envelope, line: bytes, started: float, at: float) -> None:
        params = decode(envelope.params) if envelope.method is not None and envelope.params else None
        visit = self._visit_of(envelope, params)
        if visit is None and envelope.method is not None and envelope.id is not None:
            visit = self._only_visit()  # a question belongs to the call under way, but does not say so
        self._record(line, started, at, way="received", method=envelope.method, id=envelope.id, visit=visit)
        if envelope.method is None:
            self._answered(envelope, started)
        elif envelope.id is not None:
            self._answer(envelope.id, envelope.method, params, visit)
        elif envelope.method == "notifications/progress" and isinstance(params, dict):
            self._progressed(params)
        elif envelope.method == "notifications/cancelled" and isinstance(params, dict):
            self._taken_back(params)

    def stray(self, line: bytes) -> None:
        text = line.decode("utf-8", "replace")
        self._emit(ServerOutput(server=self.alias, stream="stdout", text=text, visit=self._only_visit()))

    def complained(self, line: bytes) -> None:
        text = line.decode("utf-8", "replace")
        self.stderr.append(text)
        self._emit(ServerOutput(server=self.alias, stream="stderr", text=text, visit=self._only_visit()))

    def failed(self, number: int | str, reason: str) -> None:
        request = self._requests.get(number)
        if request is not None and not request.answer.done():
            request.answer.set_exception(RpcError(0, reason))

    def closed(self, reason: str = "") -> None:
        self.why_lost = self.why_lost or reason
        self.lost.set()
        self._fail_all()

    # ---- parts of the above

    async def _send(self, line: bytes, method: str | None, number: int | str | None, visit: int | None) -> None:
        now = time.time()
        self._record(line, now, now, way="sent", method=method, id=number, visit=visit)
        if self._wire is None:
            raise ConnectionLost
        try:
            await self._wire.send(Outgoing(line, method, number))
        except BrokenPipeError as error:
            raise ConnectionLost from error

    def _record(self, line: bytes, started: float, at: float, **about: Any) -> None:
        self._emit(WireMessage(server=self.alias, started=started, at=at, size=len(line), line=line, **about))

    async def _cancel(self, number: int) -> None:
        about = {"requestId": number, "reason": "cancelled by the user"}
        with contextlib.suppress(ConnectionLost, TimeoutError):
            async with asyncio.timeout(_CANCEL_SECONDS):
                await self.notify("notifications/cancelled", about, about=number)
        if self._wire is not None:
            self._wire.forget(number)

    def _answered(self, envelope: Envelope, came: float) -> None:
        request = self._requests.get(envelope.id) if envelope.id is not None else None
        if request is None or request.answer.done():
            return  # the answer to a cancelled request
        if envelope.error:
            error = decode(envelope.error)
            fields = error if isinstance(error, dict) else {}
            request.answer.set_exception(RpcError(fields.get("code", 0), str(fields.get("message", error))))
        else:
            request.answer.set_result((envelope.result, came))

    def _answer(self, number: int | str, method: str, params: Any, visit: int | None) -> None:
        asking = self._send_answer(number, method, params, visit)
        self._answers[number] = task = asyncio.get_running_loop().create_task(asking)
        task.add_done_callback(lambda _: self._answers.pop(number, None))

    def _taken_back(self, params: dict[str, Any]) -> None:
        """The server does not wait any more for an answer to what it asked."""
        number = params.get("requestId")
        task = self._answers.get(number) if isinstance(number, int | str) else None
        if task is not None:
            task.cancel()

    async def _send_answer(self, number: int | str, method: str, params: Any, visit: int | None) -> None:
        answer: dict[str, Any] = {"jsonrpc": "2.0", "id": number}
        try:
            answer["result"] = await self._respond(method, params, visit)
        except RpcError as error:
            answer["error"] = {"code": error.code, "message": str(error)}
        try:
            line = encode(answer)
        except (TypeError, ValueError) as no_form:
            error_body = {"code": _INTERNAL_ERROR, "message": f"the answer has no JSON form: {str(no_form)!a}"}
            line = encode({"jsonrpc": "2.0", "id": number, "error": error_body})
        with contextlib.suppress(ConnectionLost):
            await self._send(line, None, number, visit)

    def _progressed(self, params: dict[str, Any]) -> None:
        token = params.get("progressToken")
        request = self._requests.get(token) if isinstance(token, int | str) else None
        if request is not None and request.on_progress is not None:
            message = params.get("message")
            told = Progress(
                _number(params.get("progress")) or 0,
                _number(params.get("total")),
                str(message) if message is not None else None,
            )
            request.on_progress(told)

    def _visit_of(self, envelope: Envelope, params: Any) -> int | None:
        if envelope.method is None:
            return self._visits.pop(envelope.id, None) if envelope.id is not None else None
        token = params.get("progressToken") if isinstance(params, dict) else None
        return self._visits.get(token) if isinstance(token, int | str) else None

    def _only_visit(self) -> int | None:
        """The visit under way, where there is only one: a line of output does not say what it belongs to."""
        visits = [self._visits[number] for number in self._requests if number in self._visits]
        return visits[0] if len(visits) == 1 else None

    def _fail_all(self) -> None:
        for request in self._requests.values():
            if not request.answer.done():
                request.answer.set_exception(ConnectionLost())


def _number(value: Any) -> float | None:
    """A number as servers should send it; whatever else one sends counts for nothing."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
