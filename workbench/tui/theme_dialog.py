"""The choice of a theme: each is shown as soon as the cursor is on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.theme import Theme

from workbench.tui.dialogs import Dialog, Names
from workbench.tui.rows import RowsView
from workbench.tui.text import visible


class ThemeDialog(Dialog[str | None]):
    """The result is the name of the theme that is to stay; the app has had each under the cursor meanwhile."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "leave", show=False)]

    def __init__(self, themes: Sequence[Theme], present: str) -> None:
        super().__init__()
        self._names = [theme.name for theme in themes]
        self._present = present
        self._rows = Names([_words(theme) for theme in themes])

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -list") as dialog:
            dialog.border_title = "Theme"
            dialog.border_subtitle = "↑ ↓ show it · Enter keeps it · Esc back"
            yield self._rows

    def on_mount(self) -> None:
        self.set_focus(self._rows)
        if self._present in self._names:
            self._rows.move_cursor(self._names.index(self._present))

    @on(RowsView.Highlighted)
    def _show(self, event: RowsView.Highlighted) -> None:
        self.app.theme = self._names[event.index]

    @on(RowsView.Chosen)
    def _keep(self, event: RowsView.Chosen) -> None:
        self.app.theme = self._names[event.index]
        self.dismiss(self._names[event.index])

    def action_leave(self) -> None:
        self.app.theme = self._present
        self.dismiss(None)


def _words(theme: Theme) -> str:
    ground = "the terminal's own colours" if theme.ansi else "dark" if theme.dark else "light"
    return f"{visible(theme.name.removeprefix('ragwb-'))}  ({ground})"
