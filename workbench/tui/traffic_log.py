"""What went over the wire, and what servers wrote besides: bounded, with each answer beside its request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.engine.events import Event, ServerExited, ServerFailed, ServerOutput, ServerReady, WireMessage

KEPT_LINES = 20_000
KEPT_BYTES = 64_000_000


@dataclass(frozen=True)
class TrafficLine:
    """One message, one line of output, or one turn in a server's life. ``seconds`` is that of an answer's pair."""

    event: Event
    at: float
    server: str
    method: str = ""
    seconds: float | None = None


class TrafficLog:
    """The latest lines; the oldest go where there are too many, or their messages too large."""

    def __init__(self) -> None:
        self._lines: list[TrafficLine] = []
        self._asked: dict[tuple[str, str, int | str], WireMessage] = {}
        self._bytes = 0
        self.dropped = 0

    @property
    def lines(self) -> Sequence[TrafficLine]:
        return self._lines

    def take(self, event: Event, now: float) -> None:
        match event:
            case WireMessage():
                self._bytes += event.size
                self._lines.append(self._message(event))
            case ServerOutput() | ServerReady() | ServerFailed() | ServerExited():
                self._lines.append(TrafficLine(event, now, event.server))
            case _:
                return
        while len(self._lines) > KEPT_LINES or (self._bytes > KEPT_BYTES and len(self._lines) > 1):
            self._drop_oldest()

    def _message(self, message: WireMessage) -> TrafficLine:
        if message.id is None:
            return TrafficLine(message, message.at, message.server, message.method or "")
        if message.method is not None:
            self._asked[message.server, message.way, message.id] = message
            return TrafficLine(message, message.at, message.server, message.method)
        asked_way = "received" if message.way == "sent" else "sent"
        asked = self._asked.pop((message.server, asked_way, message.id), None)
        if asked is None:
            return TrafficLine(message, message.at, message.server)
        return TrafficLine(message, message.at, message.server, asked.method or "", message.at - asked.at)

    def _drop_oldest(self) -> None:
        count = max(1, len(self._lines) // 10)
        dropped, self._lines = self._lines[:count], self._lines[count:]
        self._bytes -= sum(line.event.size for line in dropped if isinstance(line.event, WireMessage))
        self.dropped += count
