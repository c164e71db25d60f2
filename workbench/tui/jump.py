"""Jumping: a letter on each pane; the next key goes to one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.widget import Widget
from textual.widgets import Static

from workbench.tui.bars import Bar
from workbench.tui.dialogs import Dialog
from workbench.tui.rows import Part
from workbench.tui.text import content

LETTERS = "asdfghjkl"


class JumpScreen(Dialog[int | None]):
    """The result is the number of the pane, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", show=False)]

    def __init__(self, panes: Sequence[Widget]) -> None:
        super().__init__()
        self._panes = list(zip(LETTERS, panes, strict=False))
        self._shown_at = Size(0, 0)

    def compose(self) -> ComposeResult:
        for letter, pane in self._panes:
            if pane.is_on_screen:
                mark = Static(content(f" {letter} "), classes="mark")
                mark.absolute_offset = pane.region.offset
                yield mark
        yield Bar(id="jump")

    def on_mount(self) -> None:
        self.query_one(Bar).show(
            [
                part
                for letter, pane in self._panes
                for part in (Part(f" {letter}", "key"), Part(f" {(pane.id or '').capitalize()} "))
            ],
            [Part("Esc back ", "dim")],
        )

    def on_key(self, event: events.Key) -> None:
        letters = [letter for letter, _ in self._panes]
        event.stop()
        self.dismiss(letters.index(event.key) if event.key in letters else None)

    def on_click(self) -> None:
        self.dismiss(None)

    def on_resize(self, event: events.Resize) -> None:
        """After another one than the first, the marks would stand where the panes were."""
        if self._shown_at not in (Size(0, 0), event.size):
            self.dismiss(None)
        self._shown_at = event.size
