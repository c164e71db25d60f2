"""Bytes of a ``text/event-stream`` to events. Linear in the size of an event."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator

import httpx2
from msgspec import Struct

from workbench.mcp.framing import LineSplitter


class StreamEvent(Struct, frozen=True):
    """One event; its first byte came at ``started`` (Unix seconds). ``retry`` is in seconds."""

    kind: str
    data: bytes
    started: float
    id: str | None = None
    retry: float | None = None


class EventSplitter:
    """Cuts a byte stream into events."""

    def __init__(self) -> None:
        self._lines = LineSplitter(keeps_empty=True)
        self._fields: list[tuple[bytes, bytes]] = []
        self._started = 0.0

    def feed(self, data: bytes, now: float) -> list[StreamEvent]:
        """The events that ``data`` completes."""
        events = []
        for line, started in self._lines.feed(data, now):
            text = line.removesuffix(b"\r")
            if text:
                self._take(text, started)
            elif self._fields:
                events.append(self._event())
        return events

    def _take(self, line: bytes, started: float) -> None:
        name, _, value = line.partition(b":")
        if not name:
            return  # a comment, which keeps the connection awake
        if not self._fields:
            self._started = started
        self._fields.append((name, value.removeprefix(b" ")))

    def _event(self) -> StreamEvent:
        fields, self._fields = self._fields, []
        last = dict(fields)
        retry, number = last.get(b"retry", b""), last.get(b"id")
        return StreamEvent(
            kind=last.get(b"event", b"message").decode("utf-8", "replace"),
            data=b"\n".join(value for name, value in fields if name == b"data"),
            started=self._started,
            id=number.decode("utf-8", "replace") if number else None,
            retry=int(retry) / 1000 if retry.isdigit() else None,
        )


async def events_of(response: httpx2.Response) -> AsyncGenerator[StreamEvent, None]:
    """The events of a response, each as soon as it is complete."""
    splitter = EventSplitter()
    async for chunk in response.aiter_bytes():
        for event in splitter.feed(chunk, time.time()):
            yield event
