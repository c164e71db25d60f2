"""What every screen with commands has: its keys, find, help, copy and the choice of theme."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar, TypeVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.screen import Screen
from textual.theme import BUILTIN_THEMES
from textual.widgets import Input

from workbench.tui.actions import Action, bindings
from workbench.tui.bars import Bar, KeyBar
from workbench.tui.help import HelpScreen
from workbench.tui.inputs import Line
from workbench.tui.keymap import keymap_of
from workbench.tui.net import Guarded
from workbench.tui.outside import NoProgram
from workbench.tui.previews import full_text
from workbench.tui.remembered import remember
from workbench.tui.rows import Part, RowsView
from workbench.tui.text import brief
from workbench.tui.theme_dialog import ThemeDialog
from workbench.tui.values_out import read_outside, save_to_file


class FindBar(Guarded, Horizontal):
    """A line at the foot for a text to find; hidden until it is asked for."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "end", show=False),
        Binding("up", "seek(-1)", show=False),
        Binding("down", "seek(1)", show=False),
    ]

    class Sought(Message):
        """A text was asked for: the next place that has it (``step`` 1), or the one before (-1)."""

        def __init__(self, needle: str, step: int) -> None:
            super().__init__()
            self.needle = needle
            self.step = step

    class Ended(Message):
        """The user is done with finding."""

    def compose(self) -> ComposeResult:
        yield Line(placeholder="find: Enter or Down next, Up before, Esc ends", compact=True)
        yield Bar(id="find-note")

    def note(self, text: str) -> None:
        self.query_one(Bar).show([Part(text, "bad")])

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_seek(1)

    def action_seek(self, step: int) -> None:
        self.post_message(self.Sought(self.query_one(Input).value, step))

    def action_end(self) -> None:
        self.post_message(self.Ended())


T = TypeVar("T")


class ActionScreen(Guarded, Screen[T]):
    """Subclasses list their ``ACTIONS``, say which rows are in front, and what stands at the cursor.

    The keys of the actions are bound when the screen is shown: the user may have chosen others.
    """

    ACTIONS: ClassVar[tuple[Action, ...]] = ()
    SIGNS: ClassVar[tuple[tuple[str, str], ...]] = ()
    """The signs that rows begin or end with, and what each means."""
    AUTO_FOCUS = None

    def on_mount(self) -> None:
        for binding in bindings(keymap_of(self.app).of(self.ACTIONS)):
            self._bindings.key_to_bindings.setdefault(binding.key, []).append(binding)

    def actions(self) -> tuple[Action, ...]:
        """The commands that there is a use for now, with their keys."""
        return keymap_of(self.app).of(self.ACTIONS)

    def compose_foot(self) -> ComposeResult:
        yield FindBar()
        yield KeyBar(self.actions())

    def rows_in_front(self) -> RowsView:
        raise NotImplementedError

    def value_at_cursor(self) -> tuple[str, Any] | None:
        """Name and value that can be looked at or copied."""
        raise NotImplementedError

    def say(self, text: str, *, is_error: bool = False) -> None:
        self.notify(brief(text), severity="error" if is_error else "information", markup=False)

    # ---- commands

    def action_find(self) -> None:
        bar = self.query_one(FindBar)
        bar.add_class("-shown")
        bar.note("")
        self.set_focus(bar.query_one(Input))  # at once: what is typed right after the key belongs here

    @on(FindBar.Sought)
    def _find(self, event: FindBar.Sought) -> None:
        rows = self.rows_in_front()
        if rows.is_slow and event.needle:
            self.query_one(FindBar).note("reading …")
            self._find_apart(rows, event)
            return
        found = bool(event.needle) and rows.find(event.needle, event.step)
        self.query_one(FindBar).note("" if found or not event.needle else "no match")

    @work(group="looking for a text", exclusive=True, exit_on_error=False)
    async def _find_apart(self, rows: RowsView, event: FindBar.Sought) -> None:
        found = await rows.find_apart(event.needle, event.step)
        self.query_one(FindBar).note("" if found else "no match")

    @on(FindBar.Ended)
    def _end_finding(self) -> None:
        self.query_one(FindBar).remove_class("-shown")
        self.set_focus(self.rows_in_front())

    @work
    async def action_copy(self) -> None:
        found = self.value_at_cursor()
        if found is None:
            self.say("there is no value at the cursor to copy")
            return
        text = await asyncio.to_thread(full_text, found[1])
        self.app.copy_to_clipboard(text.encode("utf-8", "surrogatepass").decode("utf-8", "replace"))
        self.say(f"copied {found[0]}: {len(text):,} characters")

    @work
    async def action_read_outside(self) -> None:
        found = self.value_at_cursor()
        if found is None:
            self.say("there is no value at the cursor to read")
            return
        try:
            await read_outside(self.app, found[1])
        except NoProgram as error:
            self.say(str(error), is_error=True)

    @work
    async def action_save(self) -> None:
        found = self.value_at_cursor()
        if found is None:
            self.say("there is no value at the cursor to save")
            return
        file = await save_to_file(self.app, *found)
        if file is not None:
            self.say(f"saved {found[0]} to {file}")

    @work
    async def action_choose_theme(self) -> None:
        ours = [theme for theme in self.app.available_themes.values() if theme.name not in BUILTIN_THEMES]
        chosen = await self.app.push_screen_wait(ThemeDialog(ours, self.app.theme))
        if chosen is not None:
            await asyncio.to_thread(remember, "theme", chosen)

    def action_help(self) -> None:
        self.app.push_screen(HelpScreen(self.actions(), self.SIGNS))
