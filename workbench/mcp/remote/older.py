"""The older HTTP+SSE: one stream of events brings all that the server says, and the address for what it is told."""

from __future__ import annotations

import asyncio
import contextlib
import time

import httpx2

from workbench.mcp.framing import read_envelope
from workbench.mcp.remote.events import StreamEvent, events_of
from workbench.mcp.remote.http import Http, read_to_the_end
from workbench.mcp.remote.troubles import Broken, Refused, Trouble, no_mcp, shown
from workbench.mcp.wire import Outgoing, WireListener


class OlderWire:
    """One stream; it is the session, and can't be taken up again."""

    def __init__(self, http: Http, listener: WireListener) -> None:
        self._http = http
        self._listener = listener
        self._endpoint: asyncio.Future[httpx2.URL] = asyncio.get_running_loop().create_future()
        self._endpoint.add_done_callback(lambda endpoint: endpoint.cancelled() or endpoint.exception())
        self._listening: asyncio.Task[None] | None = None
        self._is_closed = False

    async def open(self) -> None:
        """Open the stream and wait for the address. Raises ``Trouble``."""
        self._listening = asyncio.get_running_loop().create_task(self._listen())
        await asyncio.shield(self._endpoint)

    async def send(self, message: Outgoing) -> None:
        if self._is_closed:
            raise BrokenPipeError
        headers = {"content-type": "application/json"}
        try:
            async with self._http.exchange("POST", headers, url=self._endpoint.result(), body=message.line) as response:
                await read_to_the_end(response)
        except Refused as refused:
            if message.is_request and message.number is not None:
                self._listener.failed(message.number, str(refused))
            else:
                self._listener.complained(f"{message.method or 'an answer'}: {refused}".encode())
        except Broken as error:
            self._lose(error)
            raise BrokenPipeError from error

    def forget(self, number: int | str) -> None:
        """An answer that comes all the same is one event among others."""

    async def finish(self) -> None:
        """The session ends with its stream."""

    async def drain(self, seconds: float) -> None:
        """What comes after the end is not heard."""

    async def close(self) -> None:
        self._is_closed = True
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.gather(self._listening, return_exceptions=True)
        self._endpoint.cancel()

    async def _listen(self) -> None:
        try:
            async with self._http.exchange("GET", {"accept": "text/event-stream"}) as response:
                if not response.headers.get("content-type", "").startswith("text/event-stream"):
                    raise no_mcp(response)
                async with contextlib.aclosing(events_of(response)) as events:
                    async for event in events:
                        self._heard(event)
            raise Broken("the server closed its stream of events")
        except Trouble as trouble:
            if self._endpoint.done():
                self._lose(trouble)
            else:
                self._endpoint.set_exception(trouble)

    def _heard(self, event: StreamEvent) -> None:
        if event.kind == "endpoint" and not self._endpoint.done():
            self._endpoint.set_result(self._address(event.data.decode("utf-8", "replace").strip()))
        elif event.kind == "message" and event.data:
            envelope = read_envelope(event.data)
            if envelope is None:
                self._listener.complained(b"no JSON-RPC message: " + event.data[:1000])
            else:
                self._listener.received(envelope, event.data, event.started, time.time())

    def _address(self, text: str) -> httpx2.URL:
        """The address for messages, which must be the server's own. Raises ``Broken``."""
        home = self._http.url
        try:
            address = home.join(text)
        except httpx2.InvalidURL:
            raise Broken(f"the server names no address for messages: {text[:200]!r}") from None
        if (address.scheme, address.host, address.port) != (home.scheme, home.host, home.port):
            raise Broken(f"the server wants its messages sent to another server ({shown(address)}): refused")
        return address

    def _lose(self, why: Trouble) -> None:
        if not self._is_closed:
            self._is_closed = True
            self._listener.closed(str(why))
