"""Every message on the wire, both ways, and what servers wrote besides."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import ClassVar

from workbench.engine.events import ServerExited, ServerFailed, ServerOutput, ServerReady, WireMessage
from workbench.tui.model import Model
from workbench.tui.previews import byte_size, duration
from workbench.tui.rows import Part, Row, RowsView
from workbench.tui.text import content
from workbench.tui.traffic_log import TrafficLine


class TrafficPane(RowsView):
    """One line for each message or line of output. The latest stays in view while the cursor is on it."""

    BORDER_TITLE = "Traffic"
    FILTER_HINT: ClassVar[str] = "server, method, sent, stderr, visit:3, what was written"

    def __init__(self, model: Model, *, id: str) -> None:
        super().__init__(id=id)
        self._model = model
        self._shown = 0
        self.needle = ""
        self._lines: Sequence[TrafficLine] = ()

    @property
    def line(self) -> TrafficLine | None:
        return self._lines[self.cursor] if self.cursor < len(self._lines) else None

    @property
    def request(self) -> str | None:
        """The request at the cursor, or the one that the answer at the cursor belongs to, as it went over the wire."""
        event = self.line.event if self.line is not None else None
        if not isinstance(event, WireMessage) or event.id is None:
            return None
        lines = self._model.traffic.lines
        asked = event if event.method is not None else _asked(event, lines)
        return asked.line.decode("utf-8", "replace").strip() if asked is not None else None

    def narrow(self, needle: str) -> None:
        """Show the lines alone that hold each of these words."""
        self.needle = needle
        self.border_subtitle = content(f"filter: {needle}" if needle else "")
        self.show()

    def show(self) -> None:
        was_last = self.cursor >= self._shown - 1
        lines, words = self._model.traffic.lines, self.needle.casefold().split()
        self._lines = [line for line in lines if all(word in words_of(line) for word in words)] if words else lines
        self._shown = len(self._lines)
        self.rows_changed()
        if was_last:
            self.move_cursor(self._shown - 1)

    def select(self, visit: int) -> None:
        """Bring the first message of a visit into view."""
        found = next((n for n, line in enumerate(self._lines) if getattr(line.event, "visit", None) == visit), None)
        if found is not None:
            self.move_cursor(found)

    def row_count(self) -> int:
        return len(self._lines) or 1

    def row(self, index: int) -> Row:
        if index >= len(self._lines):
            return Row((Part("no line holds that" if self.needle else "no message yet", "dim"),))
        line = self._lines[index]
        begin = Part(f"{time.strftime('%H:%M:%S', time.localtime(line.at))} ", "dim")
        event = line.event
        match event:
            case WireMessage():
                arrow = Part("→ ", "good") if event.way == "sent" else Part("← ", "present")
                visit = f"  visit {event.visit}" if event.visit is not None else ""
                number = Part(f"  #{event.id}{visit}" if event.id is not None else "", "dim")
                pair = Part(f"  {duration(line.seconds)}" if line.seconds is not None else "", "value")
                times = Part(f"  x {len(line.folded)}", "value") if line.folded else Part("")
                left = (begin, arrow, Part(line.server), Part(f"  {line.method}", "name"), times, number)
                return Row(left, (pair, Part(f"  {byte_size(line.size):>7}", "dim")))
            case ServerOutput():
                is_stray = event.stream == "stdout"
                sign = Part("! stray stdout " if is_stray else "· stderr ", "warning" if is_stray else "dim")
                return Row((begin, sign, Part(f"{line.server}  "), Part(event.text, "value")))
            case ServerReady():
                return Row(
                    (begin, Part("  "), Part(f"{line.server} is ready", "good")), (Part(duration(event.seconds)),)
                )
            case ServerFailed():
                return Row((begin, Part("  "), Part(f"{line.server} failed: {event.message}", "bad")))
            case ServerExited():
                code = f" with code {event.code}" if event.code is not None else ""
                return Row((begin, Part("  "), Part(f"{line.server} ended{code}", "warning")))
            case _:
                return Row(())


def words_of(line: TrafficLine) -> str:
    """What a line is sought by: its server, its kind, its method, its visit as ``visit:3`` and a space; its output."""
    event = line.event
    kind = event.way if isinstance(event, WireMessage) else event.stream if isinstance(event, ServerOutput) else "life"
    visit = getattr(event, "visit", None)
    text = event.text if isinstance(event, ServerOutput) else ""
    return f"{line.server} {kind} {line.method} {f'visit:{visit} ' if visit is not None else ''}{text}".casefold()


def _asked(answer: WireMessage, lines: Sequence[TrafficLine]) -> WireMessage | None:
    """The request that an answer belongs to; None where it is not kept any more."""
    for line in reversed(lines):
        event = line.event
        if (
            isinstance(event, WireMessage)
            and event.method is not None
            and (event.server, event.id) == (answer.server, answer.id)
            and event.way != answer.way
        ):
            return event
    return None
