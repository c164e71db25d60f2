"""Which panes are seen: all of them, or one of each group where the screen is too small for all."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from workbench.tui.bars import TabBar
from workbench.tui.layout import Edge, are_sizes, keep_sizes, kept_sizes, resize, sizes_of
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
        self._width_class = ""
        self._grabbed: tuple[Edge, events.MouseDown] | None = None

    def compose(self) -> ComposeResult:
        # What is in front is known before there are styles to be worked out anew.
        self.panes[self._front].add_class("-front")
        self.panes[self._front_below].add_class("-front-below")
        yield TabBar(id="all-tabs")
        with Horizontal(id="upper", classes="-front-row"):
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

    # ---- how large they are

    def _rows(self) -> dict[str, Sequence[Widget]]:
        """What shares a width, or for the first a height."""
        return {
            "rows": [self.query_one("#upper"), self.query_one("#lower")],
            "upper": self._upper,
            "lower": self._lower,
        }

    @property
    def _layout_name(self) -> str:
        return " ".join([*(pane.id or "" for pane in self.panes), self._width_class])

    def on_resize(self) -> None:
        """Each class of width has sizes of its own."""
        present = [name for least, name in WIDTHS if self.app.size.width >= least][-1]
        if present != self._width_class:
            self._width_class = present
            kept = kept_sizes(self._layout_name)
            for name, row in self._rows().items():
                sizes = kept.get(name)
                resize(row, sizes if are_sizes(sizes, len(row)) else None, is_level=name == "rows")

    def resize_front(self, wider: int, higher: int) -> bool:
        """Make the pane in front larger or smaller; False where it has no neighbour to take from."""
        is_below = self._front >= len(self._upper)
        row = self._rows()["rows"] if higher else self._lower if is_below else self._upper
        number = int(is_below) if higher else self._front - len(self._upper) * is_below
        is_last = number == len(row) - 1
        edge = Edge.of(row, number - is_last, is_level=bool(higher))
        if edge is not None:
            edge.move(-(wider + higher) if is_last else wider + higher)
            self._keep()
        return edge is not None

    def reset_sizes(self) -> None:
        for name, row in self._rows().items():
            resize(row, None, is_level=name == "rows")
        self._keep()

    def _keep(self) -> None:
        sizes = {name: sizes_of(row, is_level=name == "rows") for name, row in self._rows().items()}
        self.run_worker(partial(keep_sizes, self._layout_name, sizes), thread=True, exit_on_error=False)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        edge = self._edge_at(event.screen_x, event.screen_y)
        if edge is not None:
            self._grabbed = edge, event
            self.capture_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._grabbed is not None:
            edge, begin = self._grabbed
            edge.move(event.screen_y - begin.screen_y if edge.is_level else event.screen_x - begin.screen_x)

    def on_mouse_up(self) -> None:
        if self._grabbed is not None:
            self._grabbed = None
            self.release_mouse()
            self._keep()

    def _edge_at(self, x: int, y: int) -> Edge | None:
        """The edge that two panes, or the two rows, have there."""
        upper, lower = (row.region for row in self._rows()["rows"])
        if y in (upper.bottom - 1, lower.y) and (edge := Edge.of(self._rows()["rows"], 0, is_level=True)):
            return edge
        for row in (self._upper, self._lower):
            for number, (left, right) in enumerate(pairwise(row)):
                is_here = x in (left.region.right - 1, right.region.x) and left.region.y <= y < left.region.bottom
                if is_here and (edge := Edge.of(row, number, is_level=False)):
                    return edge
        return None

    def index_of(self, widget: Widget | None) -> int | None:
        """The pane that a widget is, or is in."""
        chain = [*widget.ancestors_with_self] if widget is not None else []
        return next((number for number, pane in enumerate(self.panes) if pane in chain), None)

    def picked(self, event: TabBar.Picked) -> int | None:
        """The pane that a click on a tab asks for."""
        first = {"all-tabs": 0, "lower-tabs": len(self._upper)}.get(event.bar.id or "")
        return first + event.index if first is not None else None
