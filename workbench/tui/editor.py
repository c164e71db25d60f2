"""A box of many lines to type in; a module of its own, because what it is made of is slow to load and seldom used."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import TextArea
from textual.widgets.text_area import EditResult, Location

from workbench.tui.text import visible


class Editor(TextArea):
    """A box of any number of lines."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+a", "select_all", show=False)]

    def _replace_via_keyboard(self, insert: str, start: Location, end: Location) -> EditResult | None:
        return super()._replace_via_keyboard(visible(insert), start, end)
