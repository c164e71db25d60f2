"""Boxes of one line to type in. They show what is pasted into them as harmlessly as everything else."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from textual.events import Key
from textual.widgets import Input

from workbench.tui.text import visible


class Line(Input):
    """A box of one line."""

    def replace(self, text: str, start: int, end: int) -> None:
        super().replace(visible(text), start, end)


class FieldLine(Line):
    """A line of a form. ``keys`` have their effect in the order in which they are pressed among what is typed."""

    def __init__(self, keys: Mapping[str, Callable[[], object]]) -> None:
        super().__init__(compact=True, select_on_focus=False)
        self.cursor_blink = False
        self._keys = keys

    async def _on_key(self, event: Key) -> None:
        act = self._keys.get(event.key)
        if act is not None:
            event.stop()
            event.prevent_default()
            act()
