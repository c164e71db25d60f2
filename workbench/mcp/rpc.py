"""A JSON-RPC client for one MCP server: requests, progress, cancelling, answers to what the server asks."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from workbench.engine.events import Emit, ServerOutput, WireMessage
from workbench.engine.ports import Progress
from workbench.mcp.framing import Envelope, decode, encode
from workbench.mcp.process import Pipes
from workbench.mcp.wire import Wire

_METHOD_NOT_FOUND = -32601
_REMEMBERED_STDERR_LINES = 200


class RpcError(Exception):
    """The server answered with a JSON-RPC error; ``str()`` is its message."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class NoJsonForm(Exception):
    """What should be sent can't be written as JSON."""


class ConnectionLost(Exception):
    """The server's stdout ended, or its stdin is closed."""


@dataclass(frozen=True)
class Answer:
    """The result of a request, not decoded yet; when the request was written, and when the answer's first byte came.

    Both are Unix seconds.
    """

    result: msgspec.Raw
    written: float
    came: float


@dataclass
class _Request:
    answer: asyncio.Future[tuple[msgspec.Raw, float]]
    on_progress: Callable[[Progress], None] | None


class Connection:
    """What is said to one server and what it says; every line is emitted as an event before it is handled."""

    def __init__(self, alias: str, pipes: Pipes, emit: Emit, roots: list[dict[str, str]]) -> None:
        self.alias = alias
        self.stderr: deque[str] = deque(maxlen=_REMEMBERED_STDERR_LINES)
        self.lost = asyncio.Event()
        self._emit = emit
        self._roots = roots
        self._wire = Wire(pipes, self)
        self._numbers = itertools.count(1)
        self._requests: dict[int | str, _Request] = {}
        self._visits: dict[int | str, int] = {}
        self._answers: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        """Begin to read and write."""
        await self._wire.open()

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
        self._requests[number] = _Request(answer, on_progress)
        try:
            await self._send(line, method, number)
            written = time.time()
            if self.lost.is_set():  # before there was a request that could have heard of it
                raise ConnectionLost
            result, came = await answer
            return Answer(result, written, came)
        except asyncio.CancelledError:
            await self._cancel(number)
            raise
        finally:
            self._requests.pop(number, None)

    async def notify(self, method: str, params: Mapping[str, Any] | None = None, *, about: int | None = None) -> None:
        """Send a notification; ``about`` is the request it belongs to. Raises ``ConnectionLost``."""
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        await self._send(encode(message), method, None, about)

    @property
    def busy(self) -> bool:
        """Whether an answer is still to come."""
        return bool(self._requests)

    def close_stdin(self) -> None:
        """Ask the server to end."""
        self._wire.close_stdin()

    async def drain(self, seconds: float) -> None:
        """Wait until all that an ended server has said is heard."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.lost.wait()
                await self._wire.stderr_ended.wait()

    def close(self) -> None:
        """Let go of the pipes; whoever still waits gets ``ConnectionLost``."""
        self._wire.close()
        for task in self._answers:
            task.cancel()
        self._fail_all()

    # ---- what comes over the wire

    def received(self, envelope: Envelope, line: bytes, started: float, at: float) -> None:
        params = decode(envelope.params) if envelope.method is not None and envelope.params else None
        visit = self._visit_of(envelope, params)
        self._record(line, started, at, way="received", method=envelope.method, id=envelope.id, visit=visit)
        if envelope.method is None:
            self._answered(envelope, started)
        elif envelope.id is not None:
            self._answer(envelope.id, envelope.method)
        elif envelope.method == "notifications/progress" and isinstance(params, dict):
            self._progressed(params)

    def stray(self, line: bytes) -> None:
        text = line.decode("utf-8", "replace")
        self._emit(ServerOutput(server=self.alias, stream="stdout", text=text, visit=self._only_visit()))

    def complained(self, line: bytes) -> None:
        text = line.decode("utf-8", "replace")
        self.stderr.append(text)
        self._emit(ServerOutput(server=self.alias, stream="stderr", text=text, visit=self._only_visit()))

    def closed(self) -> None:
        self.lost.set()
        self._fail_all()

    # ---- parts of the above

    async def _send(self, line: bytes, method: str | None, number: int | str | None, about: int | None = None) -> None:
        now = time.time()
        visit = self._visits.get(number if number is not None else about or 0)
        self._record(line, now, now, way="sent", method=method, id=number, visit=visit)
        try:
            await self._wire.send(line)
        except BrokenPipeError as error:
            raise ConnectionLost from error

    def _record(self, line: bytes, started: float, at: float, **about: Any) -> None:
        self._emit(WireMessage(server=self.alias, started=started, at=at, size=len(line), line=line, **about))

    async def _cancel(self, number: int) -> None:
        with contextlib.suppress(ConnectionLost):
            await self.notify(
                "notifications/cancelled",
                {"requestId": number, "reason": "cancelled by the user"},
                about=number,
            )

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

    def _answer(self, number: int | str, method: str) -> None:
        task = asyncio.get_running_loop().create_task(self._send_answer(number, method))
        self._answers.add(task)
        task.add_done_callback(self._answers.discard)

    async def _send_answer(self, number: int | str, method: str) -> None:
        known: dict[str, Any] = {"ping": {}, "roots/list": {"roots": self._roots}}
        answer: dict[str, Any] = {"jsonrpc": "2.0", "id": number}
        if method in known:
            answer["result"] = known[method]
        else:
            answer["error"] = {"code": _METHOD_NOT_FOUND, "message": f"ragwb does not support {method}"}
        with contextlib.suppress(ConnectionLost):
            await self._send(encode(answer), None, number)

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
