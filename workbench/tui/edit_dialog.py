"""Changing a value by hand."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from typing import Any, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Static, TextArea

from workbench.engine.values import UNSET, Message
from workbench.tui.dialogs import Dialog
from workbench.tui.editor import Editor
from workbench.tui.outside import NoProgram, written_in_editor
from workbench.tui.text import content, visible
from workbench.tui.typed import Mistyped, value_of

EDITABLE_CHARACTERS = 200_000
CHECK_SECONDS = 0.3


class NotEditable(Exception):
    """The value can't be edited in a text box; ``str()`` says why and what to do instead."""


def editable(value: Any) -> tuple[str, bool]:
    """A value as ``(text to edit, whether that is JSON)``. Raises ``NotEditable``.

    A text is edited as it is, unless it holds characters that can't be shown: those are seen and typed as JSON escapes.
    """
    if isinstance(value, Message):
        value = value.text
    if isinstance(value, str) and visible(value) == value:
        text, is_json = value, False
    else:
        text, is_json = _escaped(json.dumps(_plain(value), indent=2, ensure_ascii=False)), True
    if len(text) > EDITABLE_CHARACTERS:
        raise NotEditable(
            f"{len(text):,} characters are too many to edit here; of a list, pin an item (i) to edit it alone"
        )
    return text, is_json


def like(before: Any, value: Any) -> Any:
    """An edited value in the form of the one before: the text of a prompt stays a message."""
    if isinstance(before, Message) and isinstance(value, str):
        return Message({**before, "content": {"type": "text", "text": value}})
    return value


def _plain(value: Any) -> Any:
    if value is UNSET:
        return None
    if isinstance(value, list):
        if any(entry is UNSET for entry in value):
            raise NotEditable("the list is not set for every item: pin an item (i) and edit that one")
        return [_plain(entry) for entry in value]
    return value


def _escaped(text: str) -> str:
    return re.sub(r"[^\n]", lambda found: found[0] if visible(found[0]) == found[0] else _escape(found[0]), text)


def _escape(one: str) -> str:
    return json.dumps(one)[1:-1] if not one.isascii() or ord(one) < 0x20 else f"\\u{ord(one):04x}"


class EditDialog(Dialog[None]):
    """Edits one value. ``apply`` gives it to the engine, or raises with the reason that it can't be."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "apply", show=False, priority=True),
        Binding("ctrl+e", "edit_outside", show=False, priority=True),
        Binding("escape", "dismiss", show=False, priority=True),  # the text box would take it for itself
    ]

    def __init__(self, title: str, text: str, is_json: bool, apply: Callable[[Any], Awaitable[None]]) -> None:
        super().__init__()
        self._title = title
        self._text = text
        self._is_json = is_json
        self._apply = apply

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -tall") as dialog:
            dialog.border_title = content(self._title + (" (JSON or YAML)" if self._is_json else " (text)"))
            dialog.border_subtitle = "^S keeps it · ^E in $EDITOR · Esc back"
            editor = Editor(self._text, soft_wrap=True, tab_behavior="indent", compact=True)
            editor.cursor_blink = False
            yield editor
            yield Static(classes="error")

    @work(exclusive=True)
    async def action_apply(self) -> None:
        text = self.query_one(Editor).text
        if text == self._text:
            self.dismiss()
            return
        try:
            await self._apply(await asyncio.to_thread(value_of, text) if self._is_json else text)
        except Exception as error:
            self._complain(str(error))
        else:
            self.dismiss()

    def action_edit_outside(self) -> None:
        """Go on in ``$EDITOR``; what was changed there is kept at once, if it can be."""
        before = self.query_one(Editor).text
        try:
            text = written_in_editor(self.app, before, ".json" if self._is_json else ".txt")
        except NoProgram as error:
            self._complain(str(error))
            return
        if text != before:
            self.query_one(Editor).text = visible(text)
            if visible(text) == text:
                self.action_apply()
            else:
                self._complain("it holds characters that can't be shown; they were replaced: ^S keeps it so")

    @on(TextArea.Changed)
    def _changed(self) -> None:
        if self._is_json:
            self._check(self.query_one(Editor).text)

    @work(group="check", exclusive=True)
    async def _check(self, text: str) -> None:
        """Tell a mistake as soon as one stops typing."""
        await asyncio.sleep(CHECK_SECONDS)
        try:
            await asyncio.to_thread(value_of, text)
        except Mistyped as error:
            self._complain(str(error))
        else:
            self._complain("")

    def _complain(self, text: str) -> None:
        self.query_one(".error", Static).update(content(text))
