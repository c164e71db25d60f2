"""The one-line bars: keys at the foot of a screen, and tabs."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from workbench.tui.actions import Action, key_name
from workbench.tui.looks import looks_of
from workbench.tui.net import Guarded
from workbench.tui.rows import Part, cut
from workbench.tui.text import content, one_line


class Bar(Guarded, Widget):
    """One line of parts; setting them paints this line and nothing else."""

    ALLOW_SELECT = False

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._parts: Sequence[Part] = ()
        self._right: Sequence[Part] = ()

    def show(self, parts: Sequence[Part], right: Sequence[Part] = ()) -> None:
        if (parts, right) != (self._parts, self._right):
            self._parts, self._right = parts, right
            self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        base = self.rich_style
        right = self._strip(self._right)
        left = self._strip(list(cut(self._parts, width - right.cell_length)))
        return Strip.join([left, right]).adjust_cell_length(width, base) if y == 0 else Strip.blank(width, base)

    def _strip(self, parts: Sequence[Part]) -> Strip:
        base = self.rich_style
        looks = looks_of(self.app)
        return Strip([Segment(one_line(text), base + looks[look]) for text, look in parts])


_ALWAYS = ("find", "help", "app.command_palette", "app.quit")


class KeyBar(Bar):
    """The keys of a screen that have a word of their own, as many as fit; at the right those that always stay."""

    def __init__(self, actions: Sequence[Action]) -> None:
        super().__init__(id="keys")
        labelled = [action for action in actions if action.label and action.keys]
        self._always = [action for action in labelled if action.name in _ALWAYS]
        self._actions = [action for action in labelled if action.name not in _ALWAYS]
        self._places: list[tuple[Action, int, int]] = []

    def on_mouse_move(self, event: events.MouseMove) -> None:
        action = self._action_at(event.x)
        self.tooltip = content(f"{key_name(action.keys[0])}: {action.help}") if action is not None else None

    async def on_click(self, event: events.Click) -> None:
        action = self._action_at(event.x)
        if action is not None:
            await self.screen.run_action(action.name)

    def _action_at(self, x: int) -> Action | None:
        """The action whose key or word is in this column."""
        return next((action for action, left, right in self._places if left <= x < right), None)

    def on_resize(self) -> None:
        width = self.size.width
        is_short = cells(_key_parts([*self._actions, *self._always], is_short=False)) > width
        right = _key_parts(self._always, is_short=is_short)
        shown = list(self._actions)
        while shown and cells(_key_parts(shown, is_short=is_short)) > width - cells(right):
            shown.pop()
        self.show(_key_parts(shown, is_short=is_short), right)
        left = _places(shown, 0, is_short=is_short)
        self._places = [*left, *_places(self._always, width - cells(right), is_short=is_short)]


def _places(actions: Sequence[Action], left: int, *, is_short: bool) -> list[tuple[Action, int, int]]:
    """Each action with the columns it takes, from the first on to the one after the last."""
    found = []
    for action in actions:
        right = left + cells(_key_parts([action], is_short=is_short))
        found.append((action, left, right))
        left = right
    return found


def _key_parts(actions: Sequence[Action], *, is_short: bool) -> list[Part]:
    parts = []
    for action in actions:
        label = action.short if is_short and action.short else action.label
        parts += [Part(f" {key_name(action.keys[0])}", "key"), Part(f" {label}" if is_short else f" {label} ")]
    return parts


def cells(parts: Sequence[Part]) -> int:
    return sum(cell_len(part.text) for part in parts)


class TabBar(Bar):
    """Names side by side, one of them in front; a click asks for another."""

    class Picked(Message):
        """A tab was clicked."""

        def __init__(self, bar: TabBar, index: int) -> None:
            super().__init__()
            self.bar = bar
            self.index = index

        @property
        def control(self) -> TabBar:
            return self.bar

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._whole_names: Sequence[str] = ()
        self._names: Sequence[str] = ()
        self._front = 0

    def show_tabs(self, names: Sequence[str], front: int) -> None:
        self._whole_names, self._front = names, front
        self._fit()

    def on_resize(self) -> None:
        self._fit()

    def _fit(self) -> None:
        """Names in whole, or where there is no room for all but the one in front by their first letters."""
        names, width = self._whole_names, self.size.width
        is_short = bool(width) and sum(cell_len(name) + 2 for name in names) > width
        self._names = [name[:3] if is_short and n != self._front else name for n, name in enumerate(names)]
        self.show([Part(f" {name} ", "front" if n == self._front else "dim") for n, name in enumerate(self._names)])

    def on_click(self, event: events.Click) -> None:
        left = 0
        for index, name in enumerate(self._names):
            left += cell_len(name) + 2
            if event.x < left:
                self.post_message(self.Picked(self, index))
                return
