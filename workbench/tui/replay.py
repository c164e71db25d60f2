"""Looking at saved runs: each visit, what stood in the variables after it, item by item."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from workbench.cases.saved_run import SavedRun
from workbench.engine.values import count_of
from workbench.record.memory_file import UNSET_TEXT
from workbench.tui.actions import REPLAY, Action
from workbench.tui.bars import Bar
from workbench.tui.help import OPEN_SIGN
from workbench.tui.pane_screen import PaneScreen
from workbench.tui.panes import PaneArea
from workbench.tui.rows import Part, Row, RowsView
from workbench.tui.values_view import Root, ValuesView
from workbench.tui.viewer import ValueViewer

NOT_HELD = "a memory file holds what each visit wrote; not the inputs, times, rounds, branches and messages"


class Visits(RowsView):
    """The visits of a saved run, one line each."""

    BORDER_TITLE = "Visits"

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._run: SavedRun | None = None

    def show(self, run: SavedRun) -> None:
        self._run = run
        self.rows_changed()

    def row_count(self) -> int:
        return len(self._run.visits) if self._run is not None else 0

    def row(self, index: int) -> Row:
        assert self._run is not None
        visit = self._run.visits[index]
        wrote = ", ".join(visit.saved) or "nothing"
        return Row((Part(f"{visit.number:>4} ", "dim"), Part(visit.step, "name"), Part(f"  {wrote}", "dim")))


class ReplayScreen(PaneScreen):
    """Shows one run at a time."""

    ACTIONS = REPLAY
    SIGNS = (("*", "written by this visit"), OPEN_SIGN)
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "restore", show=False)]

    def __init__(self, runs: Sequence[SavedRun]) -> None:
        self._visits = Visits(id="visits")
        self._variables = ValuesView("no variable has been written yet", id="variables")
        self._snapshot = ValuesView("this visit wrote nothing", id="snapshot")
        super().__init__(PaneArea([self._visits, self._variables], [self._snapshot]))
        self._runs = runs
        self._number = 0
        self._lens: int | None = None

    def compose(self) -> ComposeResult:
        yield Bar(id="place")
        yield Bar(id="reason")
        yield self._panes
        yield from self.compose_foot()

    def on_mount(self) -> None:
        self._variables.border_title = "Variables after this visit"
        self._snapshot.border_title = "Snapshot: what this visit wrote"
        self._visits.focus()
        self._show_run()

    @property
    def run(self) -> SavedRun:
        return self._runs[self._number]

    def actions(self) -> tuple[Action, ...]:
        return tuple(action for action in super().actions() if len(self._runs) > 1 or action.name != "next_run")

    # ---- showing

    def _show_run(self) -> None:
        self._visits.show(self.run)
        self._show_visit()

    def _show_visit(self) -> None:
        """Show the visit at the cursor."""
        run = self.run
        number = self._visits.cursor + 1 if run.visits else 0
        self._variables.show(list(self._roots(number)))
        saved = run.visits[number - 1].saved if number else {}
        roots = [self._root(f"memory_{name}", value, number, ()) for name, value in saved.items()]
        self._snapshot.show(roots)
        which = f"run {self._number + 1} of {len(self._runs)}  " if len(self._runs) > 1 else ""
        place = [Part(" ragwb replay  ", "key"), Part(f"{run.file.name}  ", "name"), Part(which)]
        step = f"visit {number} of {len(run.visits)}" if number else "no visits"
        item = f"item [{self._lens}] of {run.count} " if self._lens is not None else f"{count_of(run.count, 'item')} "
        right = [Part(item, "front" if self._lens is not None else "")]
        self.query_one("#place", Bar).show([*place, Part(step, "good")], right)
        self.query_one("#reason", Bar).show([Part(f" {NOT_HELD}", "dim")])

    def _roots(self, number: int) -> Iterator[Root]:
        for variable in self.run.variables_after(number).values():
            star = Part(" *", "mark") if variable.visit == number else Part("  ")
            yield self._root(
                variable.name, variable.value, variable.visit, (Part(f" visit {variable.visit}", "dim"), star)
            )

    def _root(self, name: str, value: Any, key: int, notes: tuple[Part, ...]) -> Root:
        if self._lens is not None and self.run.is_item_list(value):
            name, value = f"{name} [{self._lens}]", value[self._lens]
        shape = "not set" if value == UNSET_TEXT else None
        return Root(name, value, notes, shape=shape)

    @on(RowsView.Highlighted, "#visits")
    def _visit_selected(self) -> None:
        self._show_visit()

    @on(RowsView.Chosen)
    def _look_closer(self) -> None:
        found = self.value_at_cursor()
        if found is not None:
            self.app.push_screen(ValueViewer(*found))

    def value_at_cursor(self) -> tuple[str, Any] | None:
        rows = self.rows_in_front()
        if isinstance(rows, ValuesView):
            return rows.named_value
        visit = self.run.visits[self._visits.cursor] if self.run.visits else None
        return (f"{visit.number} {visit.step}", dict(visit.saved)) if visit is not None else None

    # ---- items and runs

    @property
    def lens(self) -> int | None:
        return self._lens

    def item_count(self) -> int:
        return self.run.count

    def pin(self, item: int | None) -> None:
        self._lens = item
        self._show_visit()

    def action_next_run(self) -> None:
        self._number = (self._number + 1) % len(self._runs)
        if self._lens is not None and self._lens >= self.run.count:
            self._lens = None
        self._show_run()
