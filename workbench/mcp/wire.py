"""What stands between a connection and a server's process or address: whole messages in and out."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from workbench.mcp.framing import Envelope


class Outgoing(Struct, frozen=True):
    """A message on its way to a server. A request has a method and a number, an answer only the number that it
    answers, a notification only a method."""

    line: bytes
    method: str | None = None
    number: int | str | None = None

    @property
    def is_request(self) -> bool:
        return self.method is not None and self.number is not None


class WireListener(Protocol):
    """Whoever hears what comes over a wire. Called on the loop, in the order in which it came."""

    def received(self, envelope: Envelope, line: bytes, started: float, at: float) -> None:
        """A JSON-RPC message; its first byte came at ``started``, its last at ``at`` (Unix seconds)."""

    def stray(self, line: bytes) -> None:
        """A line on stdout that is no JSON-RPC message."""

    def complained(self, line: bytes) -> None:
        """A line on stderr, or whatever else a server says outside the protocol."""

    def failed(self, number: int | str, reason: str) -> None:
        """A request was refused by what carries it, and will get no answer; the server lives."""

    def closed(self, reason: str = "") -> None:
        """Nothing comes any more. ``reason`` says why, where the end of a process does not."""


class Wire(Protocol):
    """A way to one server. Open it once, close it once."""

    async def open(self) -> None:
        """Begin to read and write. Raises ``OSError``."""

    async def send(self, message: Outgoing) -> None:
        """Write one message; returns when it is written. Raises ``BrokenPipeError`` if nobody reads any more."""

    def forget(self, number: int | str) -> None:
        """Nobody waits any more for the answer to this request."""

    async def finish(self) -> None:
        """Tell the server that nothing more will be asked; what it still says is heard."""

    async def drain(self, seconds: float) -> None:
        """Wait, so long at most, until all that an ended server has said is heard."""

    async def close(self) -> None:
        """Let go of everything."""
