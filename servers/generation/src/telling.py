"""Tells the client how far a call is: the tokens of one answer as they come, or how many of many are there."""

from __future__ import annotations

import time

from workbench.mcp.kit import report

_EVERY = 0.05
"""Seconds between two messages at least: more than that no one can read, and each is a line on the wire."""
_SHOWN = 80


class Telling:
    """The progress of one call. ``streams`` says whether answers come one after the other, as tokens."""

    def __init__(self, count: int, *, streams: bool) -> None:
        self.streams = streams
        self._count = count
        self._tokens = 0
        self._done = 0
        self._waiting: list[str] = []
        self._told = 0.0

    async def begin(self, label: str) -> None:
        """An answer begins; of several that stream, each gets a line with its item."""
        if self.streams and self._count > 1:
            await self._flush()
            await report(self._tokens, None, f"\n{label} ")

    async def token(self, token: str) -> None:
        """A piece of an answer."""
        self._tokens += 1
        self._waiting.append(token)
        if time.monotonic() - self._told >= _EVERY:
            await self._flush()

    async def end(self, label: str, text: str) -> None:
        """An answer is there."""
        self._done += 1
        if self.streams:
            await self._flush()
        elif time.monotonic() - self._told >= _EVERY or self._done == self._count:
            self._told = time.monotonic()
            await report(self._done, self._count, f"{label} {' '.join(text[: _SHOWN * 2].split())[:_SHOWN]}")

    async def _flush(self) -> None:
        if self._waiting:
            text, self._waiting = "".join(self._waiting), []
            self._told = time.monotonic()
            await report(self._tokens, None, text)
