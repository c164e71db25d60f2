"""Boxes to type in. They show what is pasted into them as harmlessly as everything else."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import Input, TextArea
from textual.widgets.text_area import EditResult, Location

from workbench.tui.text import visible


class Line(Input):
    """A box of one line."""

    def replace(self, text: str, start: int, end: int) -> None:
        super().replace(visible(text), start, end)


class Editor(TextArea):
    """A box of any number of lines."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+a", "select_all", show=False)]

    def _replace_via_keyboard(self, insert: str, start: Location, end: Location) -> EditResult | None:
        return super()._replace_via_keyboard(visible(insert), start, end)
