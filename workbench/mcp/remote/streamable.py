"""Streamable HTTP: each message a POST, answers as JSON or as a stream of events that can be taken up again."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable

import httpx2
import msgspec
from msgspec import Struct

from workbench.mcp.framing import decode, read_envelope
from workbench.mcp.remote.events import events_of
from workbench.mcp.remote.http import Http, read_to_the_end
from workbench.mcp.remote.troubles import Broken, Refused, no_mcp
from workbench.mcp.wire import Outgoing, WireListener

_RETRY_SECONDS = 1.0
_SHORTEST_RETRY_SECONDS = 0.1
_LONGEST_RETRY_SECONDS = 60.0
_MOST_FAILURES = 3
_SHORT_SECONDS = 1.0
_GOODBYE_SECONDS = 1.0
_LAST_EVENTS_SECONDS = 1.0

WhenRefused = Callable[[Outgoing, Refused], Awaitable[None]]


class _Stream(Struct):
    """What is known of one stream of events, over all connections that carry it; ``number`` is the request that it
    answers, if it answers one."""

    number: int | str | None = None
    is_answered: bool = False
    last_id: str | None = None
    retry: float = _RETRY_SECONDS
    hears_something: bool = False


class StreamableWire:
    """One session. ``when_refused`` hears of requests that the server answers with a status that is no success."""

    def __init__(self, http: Http, listener: WireListener, when_refused: WhenRefused) -> None:
        self._http = http
        self._listener = listener
        self._when_refused = when_refused
        self._session: str | None = None
        self._protocol: str | None = None
        self._initialize: int | str | None = None
        self._asks: dict[int | str, asyncio.Task[None]] = {}
        self._listening: asyncio.Task[None] | None = None
        self._is_closed = False

    async def open(self) -> None:
        """Nothing is opened before the first message."""

    async def send(self, message: Outgoing) -> None:
        if self._is_closed:
            raise BrokenPipeError
        if not message.is_request or message.number is None:
            await self._tell(message)
            return
        if message.method == "initialize":
            self._initialize = message.number
        written = asyncio.Event()
        task = asyncio.get_running_loop().create_task(self._ask(message, message.number, written))
        self._asks[message.number] = task
        await written.wait()

    def forget(self, number: int | str) -> None:
        task = self._asks.get(number)
        if task is not None:
            task.cancel()

    async def finish(self) -> None:
        """End the session, where the server keeps one."""
        was_closed, self._is_closed = self._is_closed, True
        if self._listening is not None:
            self._listening.cancel()
        if self._session is None or was_closed:
            return
        with contextlib.suppress(TimeoutError, Broken, Refused):
            async with asyncio.timeout(_GOODBYE_SECONDS), self._exchange("DELETE"):
                pass

    async def drain(self, seconds: float) -> None:
        """What comes after the end of a session is not heard."""

    async def close(self) -> None:
        self._is_closed = True
        tasks = [*self._asks.values(), *([self._listening] if self._listening is not None else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # ---- out

    async def _tell(self, message: Outgoing) -> None:
        """A notification, or an answer: the server only accepts it."""
        try:
            async with self._exchange("POST", message.line) as response:
                await read_to_the_end(response)
        except Refused as refused:
            self._listener.complained(f"{message.method or 'an answer'}: {refused}".encode())
        except Broken as error:
            self._lose(error)
            raise BrokenPipeError from error
        if message.method == "notifications/initialized":
            self._listening = asyncio.get_running_loop().create_task(self._listen())

    async def _ask(self, message: Outgoing, number: int | str, written: asyncio.Event) -> None:
        stream = _Stream(number)
        try:
            try:
                async with self._exchange("POST", message.line, written=written) as response:
                    self._session = response.headers.get("mcp-session-id", self._session)
                    await self._hear(response, stream)
            except Broken:
                if stream.last_id is None:
                    raise
            await self._resume(stream)
        except Refused as refused:
            await self._when_refused(message, refused)
        except Broken as error:
            self._lose(error)
        finally:
            written.set()
            self._asks.pop(number, None)

    @contextlib.asynccontextmanager
    async def _exchange(
        self,
        method: str,
        body: bytes | None = None,
        *,
        last_id: str | None = None,
        written: asyncio.Event | None = None,
    ) -> AsyncIterator[httpx2.Response]:
        """One request of the session. Raises ``Broken``, also where the session has expired, and ``Refused``."""
        headers = {"accept": "text/event-stream" if method == "GET" else "application/json, text/event-stream"}
        if body is not None:
            headers["content-type"] = "application/json"
        if self._session is not None:
            headers["mcp-session-id"] = self._session
        if self._protocol is not None:
            headers["mcp-protocol-version"] = self._protocol
        if last_id is not None:
            headers["last-event-id"] = last_id
        try:
            async with self._http.exchange(method, headers, body=body, written=written) as response:
                yield response
        except Refused as refused:
            if refused.status == 404 and self._session is not None:
                raise Broken(f"its session has expired ({refused})") from refused
            raise

    # ---- in

    async def _hear(self, response: httpx2.Response, stream: _Stream) -> None:
        """Take in what a response brings. Raises ``Refused`` for what is no answer."""
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind == "text/event-stream":
            await self._hear_events(response, stream)
        elif kind == "application/json":
            body, started = await _read(response)
            for line in _messages(body):
                self._deliver(line, started, stream)
        if not stream.is_answered and kind != "text/event-stream":
            raise no_mcp(response)

    async def _hear_events(self, response: httpx2.Response, stream: _Stream) -> None:
        async with contextlib.aclosing(events_of(response)) as events:
            async for event in events:
                stream.last_id = event.id or stream.last_id
                stream.hears_something = True
                if event.retry is not None:
                    stream.retry = min(max(event.retry, _SHORTEST_RETRY_SECONDS), _LONGEST_RETRY_SECONDS)
                if event.data and event.kind == "message":
                    self._deliver(event.data, event.started, stream)
                if stream.is_answered:
                    break
            with contextlib.suppress(TimeoutError):  # read to its end, a connection can be used again
                async with asyncio.timeout(_LAST_EVENTS_SECONDS):
                    async for _ in events:
                        pass

    def _deliver(self, line: bytes, started: float, stream: _Stream) -> None:
        envelope = read_envelope(line)
        if envelope is None:
            self._listener.complained(b"no JSON-RPC message: " + line[:1000])
            return
        if envelope.method is None and envelope.id is not None and envelope.id == stream.number:
            stream.is_answered = True
            if stream.number == self._initialize:
                self._protocol = _version(envelope.result)
        self._listener.received(envelope, line, started, time.time())

    async def _resume(self, stream: _Stream) -> None:
        """Take up a stream that ended before its answer, where the server numbered its events. Raises ``Broken``."""
        failures = 0
        while not stream.is_answered:
            if stream.last_id is None:
                raise Broken("the connection was closed in the middle of an answer")
            await asyncio.sleep(stream.retry)
            stream.hears_something = False
            try:
                async with self._exchange("GET", last_id=stream.last_id) as response:
                    await self._hear(response, stream)
            except Broken:
                failures = 1 if stream.hears_something else failures + 1
                if failures == _MOST_FAILURES:
                    raise

    async def _listen(self) -> None:
        """What the server says on its own. Some never do; one that can't be reached any more is gone."""
        stream = _Stream()
        failures = silences = 0
        while silences < _MOST_FAILURES:
            stream.hears_something, begun = False, time.monotonic()
            try:
                async with self._exchange("GET", last_id=stream.last_id) as response:
                    failures = 0
                    await self._hear(response, stream)
            except Refused:
                return
            except Broken as error:
                failures += 1
                if failures == _MOST_FAILURES:
                    self._lose(error)
                    return
            is_silent = not stream.hears_something and time.monotonic() - begun < _SHORT_SECONDS
            silences = silences + 1 if is_silent else 0
            await asyncio.sleep(stream.retry)

    def _lose(self, why: Broken) -> None:
        if not self._is_closed:
            self._is_closed = True
            self._listener.closed(str(why))


async def _read(response: httpx2.Response) -> tuple[bytes, float]:
    """The body, and when its first byte came."""
    parts: list[bytes] = []
    started = 0.0
    async for chunk in response.aiter_bytes():
        started = started or time.time()
        parts.append(chunk)
    return b"".join(parts), started


def _messages(body: bytes) -> list[bytes]:
    """The messages of a body: one, or several in a list."""
    if not body.lstrip().startswith(b"["):
        return [body]
    try:
        return [bytes(raw) for raw in msgspec.json.decode(body, type=list[msgspec.Raw])]
    except msgspec.DecodeError:
        return [body]


def _version(result: msgspec.Raw) -> str | None:
    try:
        about = decode(result) if result else None
    except ValueError:
        return None
    version = about.get("protocolVersion") if isinstance(about, dict) else None
    return version if isinstance(version, str) else None
