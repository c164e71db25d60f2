"""Which panes are seen: all of them, or one of each group where the screen is too small for all."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from workbench.tui.bars import TabBar
from workbench.tui.net import Guarded

WIDTHS = [(0, "-narrow"), (96, "-medium"), (140, "-wide")]
"""Columns from which on a screen is of a class."""


class PaneArea(Guarded, Vertical):
    """Two rows of panes. On a screen of middle width the lower ones are tabs, on a narrow one all of them are.

    The pane in front is the one that is worked in; it is seen in any case.
    """

    def __init__(self, upper: Sequence[Widget], lower: Sequence[Widget]) -> None:
        super().__init__(id="panes")
        self._upper = upper
        self._lower = lower
        self._front = 0
        self._front_below = len(upper)

    def compose(self) -> ComposeResult:
        yield TabBar(id="all-tabs")
        with Horizontal(id="upper"):
            yield from self._upper
        yield TabBar(id="lower-tabs")
        with Horizontal(id="lower"):
            yield from self._lower

    def on_mount(self) -> None:
        self.bring_to_front(0)

    @property
    def panes(self) -> list[Widget]:
        return [*self._upper, *self._lower]

    @property
    def front(self) -> int:
        return self._front

    def bring_to_front(self, index: int) -> None:
        self._front = index % len(self.panes)
        if self._front >= len(self._upper):
            self._front_below = self._front
        for number, pane in enumerate(self.panes):
            pane.set_class(number == self._front, "-front")
            pane.set_class(number == self._front_below, "-front-below")
        self.query_one("#lower").set_class(self._front >= len(self._upper), "-front-row")
        self.query_one("#upper").set_class(self._front < len(self._upper), "-front-row")
        names = [f"{number} {pane.id.capitalize()}" for number, pane in enumerate(self.panes, 1) if pane.id]
        self.query_one("#all-tabs", TabBar).show_tabs(names, self._front)
        below = self._front_below - len(self._upper)
        self.query_one("#lower-tabs", TabBar).show_tabs(names[len(self._upper) :], below)

    def index_of(self, widget: Widget | None) -> int | None:
        """The pane that a widget is, or is in."""
        chain = [*widget.ancestors_with_self] if widget is not None else []
        return next((number for number, pane in enumerate(self.panes) if pane in chain), None)

    def picked(self, event: TabBar.Picked) -> int | None:
        """The pane that a click on a tab asks for."""
        first = {"all-tabs": 0, "lower-tabs": len(self._upper)}.get(event.bar.id or "")
        return first + event.index if first is not None else None
