"""Who wrote a variable, and who read it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from workbench.engine.looking import Version
from workbench.engine.visit import Visit
from workbench.tui.dialogs import Dialog
from workbench.tui.previews import preview, short_shape
from workbench.tui.rows import Part, Row, RowsView
from workbench.tui.text import column, content
from workbench.tui.viewer import ValueViewer


class HistoryDialog(Dialog[None]):
    """A line for each version of a variable, and one for each visit that read it; Enter shows the version's value."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "dismiss", show=False)]

    def __init__(self, name: str, versions: Sequence[Version]) -> None:
        super().__init__()
        self._variable = name
        self._rows = Versions(versions)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -tall") as dialog:
            dialog.border_title = content(f"Who wrote and read {self._variable}")
            dialog.border_subtitle = "Enter shows the value · Esc back"
            yield self._rows

    def on_mount(self) -> None:
        self.set_focus(self._rows)

    @on(RowsView.Chosen)
    def _look_closer(self, event: RowsView.Chosen) -> None:
        event.stop()
        self.app.push_screen(ValueViewer(self._variable, self._rows.value))


class Versions(RowsView):
    """Versions, oldest first, each with its readers below it."""

    def __init__(self, versions: Sequence[Version]) -> None:
        super().__init__()
        self._rows: list[tuple[Version, Visit | None]] = []
        for version in versions:
            self._rows += [(version, None), *((version, reader) for reader in version.readers)]

    @property
    def value(self) -> Any:
        return self._rows[self.cursor][0].variable.value

    def row_count(self) -> int:
        return len(self._rows)

    def row(self, index: int) -> Row:
        version, reader = self._rows[index]
        if reader is not None:
            return Row((Part("     ← read by ", "dim"), Part(_visit(reader))))
        value = version.variable.value
        who = f"edited after {_visit(version.visit)}" if version.is_edited else f"written by {_visit(version.visit)}"
        recorded = "  recorded" if version.visit is not None and version.visit.provenance == "recorded" else ""
        left = (
            Part(f" {'✎' if version.is_edited else '→'} ", "mark" if version.is_edited else "good"),
            Part(who, "name"),
            Part(recorded, "mark"),
            Part(f"  {column(short_shape(value), 10)} ", "dim"),
        )
        return Row((*left, Part(preview(value, self.row_width), "value")))


def _visit(visit: Visit | None) -> str:
    """A visit as it is named; None is what was there before the first."""
    if visit is None:
        return "what was there before"
    rounds = "".join(f" round {number}" for number in visit.round[-1:])
    return f"visit {visit.number} {visit.name}{rounds}"
