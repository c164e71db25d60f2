"""Every message on the wire, both ways, and what servers wrote besides."""

from __future__ import annotations

import time

from workbench.engine.events import ServerExited, ServerFailed, ServerOutput, ServerReady, WireMessage
from workbench.tui.model import Model
from workbench.tui.previews import byte_size, duration
from workbench.tui.rows import Part, Row, RowsView
from workbench.tui.traffic_log import TrafficLine


class TrafficPane(RowsView):
    """One line for each message or line of output. The latest stays in view while the cursor is on it."""

    BORDER_TITLE = "Traffic"

    def __init__(self, model: Model, *, id: str) -> None:
        super().__init__(id=id)
        self._model = model
        self._shown = 0

    @property
    def line(self) -> TrafficLine | None:
        lines = self._model.traffic.lines
        return lines[self.cursor] if self.cursor < len(lines) else None

    def show(self) -> None:
        was_last = self.cursor >= self._shown - 1
        self._shown = len(self._model.traffic.lines)
        self.rows_changed()
        if was_last:
            self.move_cursor(self._shown - 1)

    def select(self, visit: int) -> None:
        """Bring the first message of a visit into view."""
        lines = self._model.traffic.lines
        found = next((n for n, line in enumerate(lines) if getattr(line.event, "visit", None) == visit), None)
        if found is not None:
            self.move_cursor(found)

    def row_count(self) -> int:
        return len(self._model.traffic.lines) or 1

    def row(self, index: int) -> Row:
        if not self._model.traffic.lines:
            return Row((Part("no message yet", "dim"),))
        line = self._model.traffic.lines[index]
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
