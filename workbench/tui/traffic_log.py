"""What went over the wire, and what servers wrote besides: bounded, with each answer beside its request."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from workbench.engine.events import Event, ServerExited, ServerFailed, ServerOutput, ServerReady, WireMessage

KEPT_LINES = 120_000
KEPT_BYTES = 64_000_000


class TrafficLine(Struct, frozen=True):
    """One message, one line of output, or one turn in a server's life. ``seconds`` is that of an answer's pair."""

    event: Event
    at: float
    server: str
    method: str = ""
    seconds: float | None = None
    size: int = 0
    folded: list[WireMessage] = field(default_factory=list)
    """Progress notifications of one call, with nothing between them: all of them, where they are several."""


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
                self._fold_or_append(self._message(event), event)
            case ServerOutput() | ServerReady() | ServerFailed() | ServerExited():
                size = len(event.text.encode(errors="surrogatepass")) if isinstance(event, ServerOutput) else 0
                self._bytes += size
                self._lines.append(TrafficLine(event, now, event.server, size=size))
            case _:
                return
        while len(self._lines) > KEPT_LINES or (self._bytes > KEPT_BYTES and len(self._lines) > 1):
            self._drop_oldest()

    def put_before(self, events: Iterable[Event]) -> None:
        """What was heard before anything of what is here; output stands at the time of the message before it."""
        here, self._lines = self._lines, []
        asked, self._asked = self._asked, {}  # requests are counted from 1 again after a resume
        at = 0.0
        for event in events:
            at = event.at if isinstance(event, WireMessage) else at
            self.take(event, at)
        self._lines += here
        self._asked = asked

    def _fold_or_append(self, line: TrafficLine, message: WireMessage) -> None:
        """The tokens of an answer come as hundreds of notifications: they share one line."""
        before = self._lines[-1] if self._lines else None
        if before is not None and _goes_on(before.event, message):
            folded = before.folded or [before.event]  # type: ignore[list-item]
            folded.append(message)
            self._lines[-1] = replace(line, size=before.size + message.size, folded=folded)
        else:
            self._lines.append(line)

    def _message(self, message: WireMessage) -> TrafficLine:
        line = TrafficLine(message, message.at, message.server, message.method or "", size=message.size)
        if message.id is None:
            return line
        if message.method is not None:
            self._asked[message.server, message.way, message.id] = message
            return line
        asked_way = "received" if message.way == "sent" else "sent"
        asked = self._asked.pop((message.server, asked_way, message.id), None)
        return replace(line, method=asked.method or "", seconds=message.at - asked.at) if asked is not None else line

    def _drop_oldest(self) -> None:
        count = max(1, len(self._lines) // 10)
        dropped, self._lines = self._lines[:count], self._lines[count:]
        self._bytes -= sum(line.size for line in dropped)
        self.dropped += count


def _goes_on(before: Event, message: WireMessage) -> bool:
    return (
        isinstance(before, WireMessage)
        and before.method == message.method == "notifications/progress"
        and (before.server, before.visit) == (message.server, message.visit)
    )
