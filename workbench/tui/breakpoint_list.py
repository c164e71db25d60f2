"""All breakpoints and watches of the session: switched off and on, taken away."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from workbench.engine.breakpoint_text import written_breakpoint, written_watch
from workbench.engine.breakpoints import Breakpoint, Breakpoints, Watch
from workbench.tui.dialogs import Dialog
from workbench.tui.rows import Part, Row, RowsView

Submit = Callable[..., None]


class BreakpointList(Dialog[None]):
    """One line for each; ``submit`` hands a command to the engine."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", show=False),
        Binding("space,D", "switch", show=False),
        Binding("delete,backspace,x,b", "remove", show=False),
    ]

    def __init__(self, breakpoints: Breakpoints, submit: Submit) -> None:
        super().__init__()
        self._breakpoints = breakpoints
        self._submit = submit

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -list") as dialog:
            dialog.border_title = "Breakpoints and watches"
            dialog.border_subtitle = "Space off and on · x takes it away · Esc back"
            yield Stops(self._breakpoints)

    def on_mount(self) -> None:
        self.set_focus(self.query_one(Stops))
        self.set_interval(0.1, self.query_one(Stops).rows_changed)

    def action_switch(self) -> None:
        found = self.query_one(Stops).found
        if isinstance(found, Breakpoint):
            self._submit(self._breakpoints.enable, found.key, not found.is_enabled)
        elif found is not None:
            self._submit(self._breakpoints.enable_watch, found, not found.is_enabled)

    def action_remove(self) -> None:
        found = self.query_one(Stops).found
        if isinstance(found, Breakpoint):
            self._submit(self._breakpoints.remove, found.key)
        elif found is not None:
            self._submit(self._breakpoints.unwatch, found.kind, found.text)


class Stops(RowsView):
    """The breakpoints, then the watches."""

    def __init__(self, breakpoints: Breakpoints) -> None:
        super().__init__()
        self._breakpoints = breakpoints

    @property
    def _all(self) -> list[Breakpoint | Watch]:
        return [*self._breakpoints.by_step.values(), *self._breakpoints.watches]

    @property
    def found(self) -> Breakpoint | Watch | None:
        """The one at the cursor."""
        stops = self._all
        return stops[self.cursor] if self.cursor < len(stops) else None

    def row_count(self) -> int:
        return len(self._all) or 1

    def row(self, index: int) -> Row:
        stops: list[Any] = self._all
        if index >= len(stops):
            return Row((Part(" none: b sets one at a step, w watches a variable", "dim"),))
        found = stops[index]
        is_watch = isinstance(found, Watch)
        text = written_watch(found) if is_watch else written_breakpoint(found)
        sign = Part(" ● " if found.is_enabled else " ○ ", "bad" if found.is_enabled else "dim")
        what = Part("watch " if is_watch else "", "dim")
        notes = f"stopped {found.hits} times" + ("" if found.is_kept else " · this session only")
        return Row((sign, what, Part(text, "" if found.is_enabled else "dim")), (Part(notes, "dim"),))
