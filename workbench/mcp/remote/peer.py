"""A server that is an address: streamable HTTP, and where that is refused the older HTTP+SSE."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence

import httpx2

from workbench.mcp.remote.http import Http
from workbench.mcp.remote.older import OlderWire
from workbench.mcp.remote.streamable import StreamableWire
from workbench.mcp.remote.troubles import Refused, Trouble, shown
from workbench.mcp.wire import Outgoing, Wire, WireListener
from workbench.pipeline.project import RemoteAddress

_START_SECONDS = 30.0
_PROBE_SECONDS = 5.0
_OLDER_SERVERS_ANSWER = (400, 404, 405)


class RemotePeer:
    """Nothing is started and nothing ended: there is only a session with it."""

    def __init__(self, address: RemoteAddress) -> None:
        self._address = address
        self._shown = shown(httpx2.URL(address.url))
        self.command: tuple[str, ...] = (self._shown,)
        self.folder = ""
        self.roots: list[dict[str, str]] = []  # our folders mean nothing elsewhere
        self.start_timeout: float | None = _START_SECONDS

    @property
    def pid(self) -> int | None:
        return None

    async def reach(self, listener: WireListener) -> Wire:
        return HttpWire(Http(self._address.url, self._address.headers), listener, self._address.transport)

    async def exit_code(self, seconds: float | None = None) -> int | None:
        if seconds is None:
            await asyncio.get_running_loop().create_future()
        return None

    async def end(self, grace: float) -> int | None:
        return None

    def ending(self, code: int | None) -> str:
        return "the connection was closed"

    def start_failed(self, alias: str, reason: str, stderr: Sequence[str]) -> str:
        first, *hints = reason.splitlines() or [reason]
        lines = [f"server {alias!r} could not be reached: {first}", f"  address: {self._shown}"]
        return "\n".join([*lines, *(f"  {line}" for line in [*hints, *stderr[-3:]])])


class HttpWire:
    """One of the two protocols. Which one, the answer to the first message decides, unless it is given."""

    def __init__(self, http: Http, listener: WireListener, transport: str) -> None:
        self._http = http
        self._listener = listener
        self._is_settled = transport != "auto"
        first: Wire = OlderWire(http, listener) if transport == "sse" else StreamableWire(http, listener, self._refused)
        self._wires = [first]

    @property
    def _wire(self) -> Wire:
        return self._wires[-1]

    async def open(self) -> None:
        await self._wire.open()

    async def send(self, message: Outgoing) -> None:
        await self._wire.send(message)

    def forget(self, number: int | str) -> None:
        self._wire.forget(number)

    async def finish(self) -> None:
        await self._wire.finish()

    async def drain(self, seconds: float) -> None:
        await self._wire.drain(seconds)

    async def close(self) -> None:
        for wire in self._wires:
            await wire.close()
        await self._http.close()

    async def _refused(self, message: Outgoing, refused: Refused) -> None:
        """A server of the older protocol refuses the first message; whatever else is refused has failed."""
        may_be_older = message.method == "initialize" and refused.status in _OLDER_SERVERS_ANSWER
        if may_be_older and not self._is_settled and await self._turn_to_older():
            with contextlib.suppress(BrokenPipeError):
                await self._wire.send(message)
        elif message.number is not None:
            self._listener.failed(message.number, str(refused))

    async def _turn_to_older(self) -> bool:
        """Whether the server speaks the older protocol, which then counts."""
        self._wires.append(OlderWire(self._http, self._listener))
        try:
            async with asyncio.timeout(_PROBE_SECONDS):
                await self._wire.open()
        except (Trouble, TimeoutError):
            await self._wires.pop().close()
            return False
        return True
