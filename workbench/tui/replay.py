"""Walking through a saved run: each visit, what went in and came out, what stood in the variables, item by item."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any, ClassVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.timer import Timer

from workbench.cases.flow import Flow
from workbench.cases.saved_run import Recorded, SavedRun, SavedVisit, is_unset
from workbench.engine.routing import routes_in_words
from workbench.engine.values import UNSET, count_of, numbered
from workbench.tui.actions import REPLAY, Action
from workbench.tui.bars import Bar
from workbench.tui.compare_screen import CompareScreen
from workbench.tui.desk import Desk, run_name
from workbench.tui.diff_viewer import DiffViewer
from workbench.tui.help import OPEN_SIGN
from workbench.tui.images import image_file, look_at_image
from workbench.tui.items_screen import ItemsScreen
from workbench.tui.panes import PaneArea
from workbench.tui.previews import NoValue, duration
from workbench.tui.rows import Part, Row, RowsView
from workbench.tui.study_screen import StudyScreen
from workbench.tui.values_view import Root, ValuesView
from workbench.tui.viewer import ValueViewer

_GROW_SECONDS = 0.2


class Visits(RowsView):
    """The visits of a saved run, one line each."""

    BORDER_TITLE = "Visits"

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._run: SavedRun | None = None
        self._places = 0
        self._marked: int | None = None

    @property
    def visit(self) -> SavedVisit | None:
        """The one at the cursor."""
        visits = self._run.visits if self._run is not None else ()
        return visits[self.cursor] if self.cursor < len(visits) else None

    def show(self, run: SavedRun) -> None:
        self._run = run
        self._places = max((len(visit.place_text) for visit in run.visits), default=0)
        self.rows_changed()

    def mark(self) -> tuple[SavedVisit, SavedVisit] | None:
        """Mark the visit at the cursor; with one marked already, the two of them, the earlier first."""
        here, before = self.visit, self._marked
        self._marked = None
        self.refresh()
        if here is None or here.number == before or self._run is None:
            return None
        if before is None or before > len(self._run.visits):
            self._marked = here.number
            return None
        return self._run.visits[min(before, here.number) - 1], self._run.visits[max(before, here.number) - 1]

    def row_count(self) -> int:
        return len(self._run.visits) if self._run is not None else 0

    def row(self, index: int) -> Row:
        assert self._run is not None
        visit = self._run.visits[index]
        sign = Part("◉", "mark") if visit.number == self._marked else Part(" ")
        place = f"{visit.place_text:<{min(self._places, self.row_width // 3)}}  " if self._places else ""
        look = "warning" if len(visit.places) > 1 else "dim"
        wrote = ", ".join(visit.saved) or "no outputs"
        took = (Part(duration(visit.recorded.seconds), "dim"),) if visit.recorded is not None else ()
        parts = (sign, Part(f"{visit.number:>3} ", "dim"), Part(place, look), Part(visit.step, "name"))
        return Row((*parts, Part(f"  {wrote}", "dim")), took)


class ReplayScreen(StudyScreen):
    """Shows one run at a time; the table of items and comparisons lie over it."""

    ACTIONS = REPLAY
    SIGNS = (("*", "written by this visit"), ("◉", "marked, to be compared"), OPEN_SIGN)
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "restore", show=False)]

    def __init__(self, desk: Desk) -> None:
        self._visits = Visits(id="visits")
        self._variables = ValuesView("no variable has been written yet", id="variables")
        self._snapshot = ValuesView("this visit has no outputs", id="snapshot")
        self._step = ValuesView("no visits", id="step")
        super().__init__(desk, PaneArea([self._visits, self._variables], [self._snapshot, self._step]))
        self._lens: int | None = None
        self._flow: Flow | None = None
        self._timer: Timer | None = None

    def on_mount(self) -> None:
        self._variables.border_title = "Variables after this visit"
        self._snapshot.border_title = "Snapshot: what this visit wrote"
        self._step.border_title = "Step: what it was given"
        self._visits.focus()
        self._desk.walk = self.walk
        self.show_run()
        if self._desk.growing is not None:
            self._timer = self.set_interval(_GROW_SECONDS, self._grow)
            self.call_after_refresh(self._desk.growing.go_on)
        if self._desk.compares and len(self._desk.studies) > 1:
            self.app.push_screen(CompareScreen(self._desk, self._desk.studies[0], self._desk.studies[1]))

    @property
    def run(self) -> SavedRun:
        return self.studied.run

    def actions(self) -> tuple[Action, ...]:
        return tuple(a for a in super().actions() if len(self._desk.studies) > 1 or a.name != "next_run")

    # ---- showing

    def show_run(self) -> None:
        if self._lens is not None and self._lens >= self.run.count:
            self._lens = None
        self._flow = None
        self._visits.show(self.run)
        self._show_visit()

    def _grow(self) -> None:
        """More of a large file is indexed."""
        self._desk.grow()
        self.show_run()
        if self._desk.growing is None and self._timer is not None:
            self._timer.stop()

    def walk(self, item: int, visit: int | None) -> None:
        """Show a visit with an item pinned."""
        self._lens = item
        self._visits.show(self.run)
        if visit is not None:
            self._visits.move_cursor(visit - 1)
        self._show_visit()

    def _show_visit(self) -> None:
        """Show the visit at the cursor."""
        run, visit = self.run, self._visits.visit
        number = visit.number if visit is not None else 0
        self._variables.show(list(self._roots(number)))
        saved = visit.saved if visit is not None else {}
        self._snapshot.show([self._root(name, saved[name], number, (), "memory_") for name in saved])
        self._step.show(list(self._given(visit)) if visit is not None else [])
        count = len(self._desk.studies)
        which = f"run {self._desk.number + 1} of {count}  " if count > 1 else ""
        place = [Part(" ragwb replay  ", "key"), Part(f"{run_name(run)}  ", "name"), Part(which)]
        step = f"visit {number} of {len(run.visits)}" if number else "no visits"
        item = f"item [{self._lens}] of {run.count} " if self._lens is not None else f"{count_of(run.count, 'item')} "
        right = [Part(item, "front" if self._lens is not None else "")]
        self.query_one("#place", Bar).show([*place, Part(step, "good")], right)
        self.query_one("#reason", Bar).show(
            [*self._progress(), Part(f" {'; '.join(self.studied.opened.notes)}", "dim")]
        )

    def _progress(self) -> tuple[Part, ...]:
        growing = self._desk.growing
        if growing is None:
            return ()
        indexed, size = growing.progress
        if indexed >= size:
            return (Part(" matching visits to steps ", "present"),)
        return (Part(f" indexed {indexed / 1e6:,.0f} of {size / 1e6:,.0f} MB ", "present"),)

    def _roots(self, number: int) -> Iterator[Root]:
        for variable in self.run.variables_after(number).values():
            star = Part(" *", "mark") if variable.visit == number else Part("  ")
            notes = (Part(f" visit {variable.visit}", "dim"), star)
            yield self._root(variable.name, variable.value, variable.visit, notes)

    def _root(self, name: str, value: Any, key: int, notes: tuple[Part, ...], before: str = "") -> Root:
        if self._lens is not None and self.run.is_item_list(value, name):
            return Root(f"{before}{name} [{self._lens}]", _shown(value[self._lens]), notes)
        return Root(f"{before}{name}", _shown(value), notes)

    # ---- what a visit was given

    def _given(self, visit: SavedVisit) -> Iterator[Root]:
        places = " or ".join(f"step {place}" for place in visit.places) or "a step that is not known"
        yield _fact("step", f"{visit.step}: {places}")
        recorded = visit.recorded
        if recorded is not None:
            yield from self._recorded(visit, recorded)
        else:
            yield from self._read(visit)
        notes = list(self.studied.opened.notes)
        if notes:
            yield Root("of the file", notes, look="dim")

    def _recorded(self, visit: SavedVisit, recorded: Recorded) -> Iterator[Root]:
        """What a session holds."""
        began = f"{datetime.fromtimestamp(recorded.started):%Y-%m-%d %H:%M:%S}" if recorded.started else "not known"
        took = f"{recorded.provenance}, {duration(recorded.seconds)}, began {began}"
        yield _fact(f"visit {recorded.number}", took)
        if recorded.items is not None and len(recorded.items) < self.run.count:
            yield _fact("items", numbered(recorded.items))
        if recorded.routes:
            yield _fact("decided", routes_in_words(recorded.routes))
        for warning in recorded.warnings:
            yield _fact("warning", warning, look="warning")
        for name in recorded.inputs:
            yield self._input(name, recorded.inputs[name], recorded)

    def _input(self, name: str, value: Any, recorded: Recorded) -> Root:
        items = recorded.items
        place = items.index(self._lens) if items is not None and self._lens in items else self._lens
        count = len(items) if items is not None else self.run.count
        if place is not None and isinstance(value, list) and len(value) == count > place:
            return Root(f"{name} [{self._lens}]", value[place], (Part(" input", "dim"),))
        return Root(name, value, (Part(" input", "dim"),))

    def _read(self, visit: SavedVisit) -> Iterator[Root]:
        """What the step reads by its pipeline, as it stood then; a memory file does not hold the rest."""
        if self._flow is None:
            self._flow = Flow(self.run, self.studied.opened.pipeline)
        if self._flow.binding(visit) is None:
            yield _fact("inputs", "not in the file, and its step is not known")
            return
        stood = self.run.variables_after(visit.number - 1)
        for argument, name in self._flow.reads(visit).items():
            if name in stood:
                found = stood[name]
                root = self._root(name, found.value, found.visit, (Part(f" visit {found.visit}", "dim"),))
                yield Root(f"{argument} = {root.name}", root.value, root.notes)
            else:
                yield _fact(f"{argument} = {name}", "never written before")
        yield _fact("others", "parameters and literals are not in the file", look="dim")

    @on(RowsView.Highlighted, "#visits")
    def _visit_selected(self) -> None:
        self._show_visit()

    @on(RowsView.Chosen)
    async def _look_closer(self) -> None:
        found = self.value_at_cursor()
        if found is None:
            return
        image = image_file(found[1], self.run.file.parent)
        if image is not None:
            look_at_image(self.app, image)
        else:
            self.app.push_screen(ValueViewer(*found))

    def value_at_cursor(self) -> tuple[str, Any] | None:
        rows = self.rows_in_front()
        if isinstance(rows, ValuesView):
            return rows.named_value
        visit = self._visits.visit
        return (f"{visit.number} {visit.step}", dict(visit.saved)) if visit is not None else None

    # ---- items

    @property
    def lens(self) -> int | None:
        return self._lens

    def pin(self, item: int | None) -> None:
        self._lens = item
        self._show_visit()

    def action_items(self) -> None:
        if not self.is_growing():
            self.app.push_screen(ItemsScreen(self._desk))

    # ---- visits

    def action_mark_visit(self) -> None:
        pair = self._visits.mark()
        if pair is not None:
            earlier, later = (self._compared(visit) for visit in pair)
            self.app.push_screen(DiffViewer(earlier, later))

    def _compared(self, visit: SavedVisit) -> tuple[str, dict[str, Any]]:
        """What a visit wrote; with the lens on, of the pinned item."""
        roots = (self._root(name, visit.saved[name], visit.number, ()) for name in visit.saved)
        return f"visit {visit.number} {visit.step}", {root.name: root.value for root in roots}

    @work
    async def action_make_test(self) -> None:
        visit = self._visits.visit
        if visit is not None:
            await self.make_test(visit.recorded.number if visit.recorded is not None else visit.number)

    def action_go_live(self) -> None:
        if self._visits.visit is None:
            self.say("the run has no visits")
        else:
            self.go_live(self._visits.visit.number)


def _fact(name: str, words: str, look: str = "name") -> Root:
    """Something that is told of a visit, and is no value."""
    return Root(name, NoValue(words), look=look)


def _shown(value: Any) -> Any:
    """A value as the screen shows it: what no step gave is no text."""
    if is_unset(value):
        return UNSET
    if isinstance(value, list) and any(map(is_unset, value)):
        return [UNSET if is_unset(entry) else entry for entry in value]
    return value
