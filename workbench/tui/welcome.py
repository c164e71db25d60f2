"""What is said at the first start, and never again."""

from __future__ import annotations

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from workbench.tui.dialogs import Dialog
from workbench.tui.text import content

_LINES = """\
{step_over} runs a step, {step_into} goes into a loop, {continue} runs on; {toggle_breakpoint} stops at a step.
Tab goes from pane to pane; Enter and → open what is at the cursor.
{edit_value} changes a value before it goes in; {step_back} goes back a step.
{item_lens} shows one question's values alone; {next_item} goes to the next one.
{help} has all keys, {commands} all commands. {quit} leaves; nothing that ran is lost."""


class Welcome(Dialog[str | None]):
    """Any key closes it; one that is a command's is the result, since it was meant for the screen below."""

    def __init__(self, keys: dict[str, str]) -> None:
        super().__init__()
        self._text = _LINES.format(**keys)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -welcome") as dialog:
            dialog.border_title = "ragwb, a debugger for RAG pipelines"
            dialog.border_subtitle = "any key begins"
            yield Static(content(self._text))

    def on_key(self, event: events.Key) -> None:
        event.stop()
        self.dismiss(None if event.key in ("enter", "escape", "space") else event.key)

    def on_click(self) -> None:
        self.dismiss(None)
