"""A line at the foot that narrows what a pane shows, as it is typed."""

from __future__ import annotations

from typing import ClassVar, Protocol

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input

from workbench.tui.bars import Bar
from workbench.tui.inputs import Line
from workbench.tui.net import Guarded
from workbench.tui.rows import Part


class Narrowed(Protocol):
    """A pane that can show a part of its rows."""

    FILTER_HINT: ClassVar[str]
    needle: str

    def narrow(self, needle: str) -> None: ...


class FilterBar(Guarded, Horizontal):
    """Hidden until it is asked for. Enter keeps the filter, Escape takes it away."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "clear", show=False)]

    class Ended(Message):
        """The user is done with it."""

    def __init__(self) -> None:
        super().__init__()
        self._pane: Narrowed | None = None

    def compose(self) -> ComposeResult:
        yield Bar(id="filter-note")
        yield Line(compact=True)

    def open(self, pane: Narrowed) -> None:
        """Narrow this pane from now on."""
        self._pane = pane
        self.add_class("-shown")
        self.query_one("#filter-note", Bar).show([Part(" filter ", "key")])
        line = self.query_one(Line)
        line.cursor_blink = False
        line.placeholder = f"{pane.FILTER_HINT} · Enter keeps it · Esc shows all"
        line.value = pane.needle
        self.screen.set_focus(line)  # at once: what is typed right after the key belongs here

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        if self._pane is not None and self.has_class("-shown"):
            self._pane.narrow(event.value)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._end()

    def action_clear(self) -> None:
        if self._pane is not None:
            self._pane.narrow("")
        self._end()

    def _end(self) -> None:
        self.remove_class("-shown")
        self.post_message(self.Ended())
