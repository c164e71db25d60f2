"""A screen of panes, with the keys to go from one to the other and the item lens over all of them."""

from __future__ import annotations

from typing import ClassVar

from textual import events, on, work
from textual.app import ComposeResult

from workbench.tui.action_screen import ActionScreen
from workbench.tui.bars import Bar, TabBar
from workbench.tui.jump import JumpScreen
from workbench.tui.panes import WIDTHS, PaneArea
from workbench.tui.rows import Part, RowsView


class PaneScreen(ActionScreen[None]):
    """Subclasses give the panes, the number of items there are, and show what the lens is on."""

    HORIZONTAL_BREAKPOINTS = WIDTHS
    SMALLEST: ClassVar[tuple[int, int]] = (80, 20)
    """Columns and lines; on a smaller screen there is one line that says so."""

    def __init__(self, panes: PaneArea) -> None:
        super().__init__()
        self._panes = panes

    @property
    def lens(self) -> int | None:
        """The item that is pinned."""
        raise NotImplementedError

    def item_count(self) -> int:
        raise NotImplementedError

    def pin(self, item: int | None) -> None:
        """Put the lens on an item, or take it off."""
        raise NotImplementedError

    def compose(self) -> ComposeResult:
        yield Bar(id="place")
        yield Bar(id="reason")
        yield self._panes
        yield from self.compose_foot()

    def compose_foot(self) -> ComposeResult:
        yield Bar(id="too-small")
        yield from super().compose_foot()

    def on_resize(self, event: events.Resize) -> None:
        width, height = event.size
        is_tiny = width < self.SMALLEST[0] or height < self.SMALLEST[1]
        self.query_one("#too-small", Bar).show([Part(f"ragwb needs 80x24; this is {width}x{height}", "warning")])
        if self.has_class("-tiny") and not is_tiny:
            self.call_after_refresh(self.rows_in_front().focus)
        self.set_class(is_tiny, "-tiny")

    # ---- panes

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        index = self._panes.index_of(event.widget)
        if index is not None:
            self._panes.bring_to_front(index)

    @on(TabBar.Picked)
    def _pane_picked(self, event: TabBar.Picked) -> None:
        index = self._panes.picked(event)
        if index is not None:
            self.show_pane(index)

    def show_pane(self, index: int) -> None:
        self._panes.bring_to_front(index)
        self.set_focus(self.rows_in_front())

    def rows_in_front(self) -> RowsView:
        pane = self._panes.panes[self._panes.front]
        assert isinstance(pane, RowsView)
        return pane

    def action_show_pane(self, number: int) -> None:
        self.show_pane(number - 1)

    def action_next_pane(self) -> None:
        self.show_pane(self._panes.front + 1)

    def action_previous_pane(self) -> None:
        self.show_pane(self._panes.front - 1)

    def action_maximise(self) -> None:
        self.toggle_class("-alone")

    def action_restore(self) -> None:
        self.remove_class("-alone")

    def action_resize(self, wider: int, higher: int) -> None:
        if not self._panes.resize_front(wider, higher):
            self.say("there is no pane beside this one to take from")

    def action_reset_layout(self) -> None:
        self._panes.reset_sizes()

    @work
    async def action_jump(self) -> None:
        index = await self.app.push_screen_wait(JumpScreen(self._panes.panes))
        if index is not None:
            self.show_pane(index)

    # ---- the item lens

    def action_toggle_lens(self) -> None:
        if self.item_count():
            self.pin(0 if self.lens is None else None)
        else:
            self.say("there are no items")

    def action_move_lens(self, distance: int) -> None:
        count = self.item_count()
        if count:
            at = self.lens if self.lens is not None else -1 if distance > 0 else count
            self.pin((at + distance) % count)
