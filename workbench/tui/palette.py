"""The command palette (Ctrl+P): the commands of the screen it was called from."""

from __future__ import annotations

import contextlib
from functools import partial
from typing import Literal

from textual import on
from textual.app import ComposeResult
from textual.command import CommandInput, CommandList, CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.widgets import Input, OptionList

from workbench.tui.action_screen import ActionScreen
from workbench.tui.actions import Action, key_name
from workbench.tui.inputs import Line
from workbench.tui.net import Guarded


class Palette(Guarded, CommandPalette):
    """Textual's palette, with a box and a list of ours in the place of its own."""

    def compose(self) -> ComposeResult:
        for widget in super().compose():
            if isinstance(widget, CommandInput):
                yield PaletteLine(placeholder=self._placeholder, select_on_focus=False)
            elif isinstance(widget, CommandList):
                yield PaletteList()
            else:
                yield widget

    @on(OptionList.OptionSelected)
    @on(Input.Submitted)
    def _run_once(self, event: OptionList.OptionSelected | Input.Submitted) -> None:
        """A second Enter that was pressed in haste would run the command twice and close another screen."""
        if not self.is_current:
            event.prevent_default()


class PaletteLine(CommandInput, Line):
    """Shows what is pasted into it harmlessly."""


class PaletteList(Guarded, CommandList, can_focus=False):
    """Stands still where its lines are not laid out yet; Textual's raises."""

    def _move_page(self, direction: Literal[-1, 1]) -> None:
        with contextlib.suppress(LookupError):
            super()._move_page(direction)


class ActionCommands(Provider):
    """Offers the actions of a screen that has some."""

    async def discover(self) -> Hits:
        for action in self._actions():
            yield DiscoveryHit(_title(action), partial(self.screen.run_action, action.name), help=action.help)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for action in self._actions():
            score = matcher.match(action.words)
            if score > 0:
                run = partial(self.screen.run_action, action.name)
                yield Hit(score, matcher.highlight(_title(action)), run, help=action.help)

    def _actions(self) -> list[Action]:
        actions = self.screen.actions() if isinstance(self.screen, ActionScreen) else ()
        return [action for action in actions if action.name != "app.command_palette"]


def _title(action: Action) -> str:
    return f"{action.words.capitalize()}  ({', '.join(key_name(key) for key in action.keys) or 'no key'})"
