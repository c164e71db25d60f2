"""The main screen: a pipeline, the run of it, and every command to steer it."""

from __future__ import annotations

from typing import Any, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from workbench.engine.debugger import Command
from workbench.tui.action_screen import ActionScreen
from workbench.tui.actions import WORKBENCH, bindings
from workbench.tui.bars import Bar, TabBar
from workbench.tui.bridge import EngineThread
from workbench.tui.changes import Changes
from workbench.tui.message_text import message_text
from workbench.tui.model import Model
from workbench.tui.panes import WIDTHS, PaneArea
from workbench.tui.pipeline_tree import PipelineTree
from workbench.tui.rows import RowsView
from workbench.tui.snapshots import Snapshots
from workbench.tui.status_line import place_parts, reason_parts
from workbench.tui.step_pane import StepPane
from workbench.tui.timeline import Timeline
from workbench.tui.traffic_pane import TrafficPane
from workbench.tui.values_view import ValuesView
from workbench.tui.variables_pane import VariablesPane
from workbench.tui.viewer import ValueViewer

TICK_SECONDS = 0.5


class WorkbenchScreen(ActionScreen[None]):
    """Lays out the panes, and hands commands to the engine."""

    ACTIONS = WORKBENCH
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(WORKBENCH), Binding("escape", "restore", show=False)]
    HORIZONTAL_BREAKPOINTS = WIDTHS

    def __init__(self, engine: EngineThread, model: Model) -> None:
        super().__init__()
        self._engine = engine
        self._model = model
        self._tree = PipelineTree(engine.debugger.prepared.pipeline, model, id="pipeline")
        self._step = StepPane(model, id="step")
        self._variables = VariablesPane(model, id="variables")
        self._timeline = Timeline(model, id="timeline")
        self._traffic = TrafficPane(model, id="traffic")
        self._snapshots = Snapshots(model, id="snapshots")
        self._panes = PaneArea(
            [self._tree, self._step, self._variables], [self._timeline, self._traffic, self._snapshots]
        )
        self._changes = Changes(self, engine, model)
        self._seen_stop: object = None

    def compose(self) -> ComposeResult:
        yield Bar(id="place")
        yield Bar(id="reason")
        yield self._panes
        yield from self.compose_foot()

    def on_mount(self) -> None:
        self._tree.focus()
        self.show_run()
        self.set_interval(TICK_SECONDS, self._tick)

    # ---- showing

    def show_run(self) -> None:
        """Show how things stand, after events have come in."""
        self._show_status()
        self._tree.show()
        self._variables.show_pool()
        self._timeline.show()
        self._traffic.show()
        self._snapshots.show()
        if self._is_at_new_place():
            self._step.show(self._model.debugger.program.steps.get(self._model.debugger.state.place.step or ""))
        elif self._model.debugger.state.status != "running":
            self._step.refresh_shown()

    def _is_at_new_place(self) -> bool:
        """Whether the run has stopped anew, or is under way: the step pane then goes with it."""
        state = self._model.debugger.state
        if state.stop is None:
            return True
        is_new = state.stop is not self._seen_stop
        self._seen_stop = state.stop
        return is_new

    def _show_status(self) -> None:
        self.query_one("#place", Bar).show(*place_parts(self._model, self.size.width))
        self.query_one("#reason", Bar).show(*reason_parts(self._model))

    def _tick(self) -> None:
        """Clocks go on where nothing else happens."""
        self._show_status()
        if self._model.debugger.state.status == "running":
            self._tree.refresh()

    @on(RowsView.Highlighted, "#pipeline")
    def _step_selected(self) -> None:
        self._step.show(self._tree.step)

    @on(RowsView.Highlighted, "#timeline")
    def _visit_selected(self) -> None:
        entry = self._timeline.entry
        visit = self._model.visit(entry.visit) if entry is not None and entry.visit is not None else None
        if visit is not None:
            self._step.show(self._model.debugger.program.steps.get(visit.step), visit)

    @on(RowsView.Chosen)
    def _look_closer(self) -> None:
        if self.rows_in_front() is self._tree:
            self.action_show_pane(2)
            return
        found = self.value_at_cursor()
        if found is not None:
            self.app.push_screen(ValueViewer(*found))

    # ---- panes

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        index = self._panes.index_of(event.widget)
        if index is not None:
            self._panes.bring_to_front(index)

    @on(TabBar.Picked)
    def _tab_picked(self, event: TabBar.Picked) -> None:
        index = self._panes.picked(event)
        if index is not None:
            self.action_show_pane(index + 1)

    def rows_in_front(self) -> RowsView:
        pane = self._panes.panes[self._panes.front]
        return self._step.view if pane is self._step else pane if isinstance(pane, RowsView) else self._tree

    def action_show_pane(self, number: int) -> None:
        self._panes.bring_to_front(number - 1)
        self.rows_in_front().focus()

    def action_next_pane(self) -> None:
        self.action_show_pane(self._panes.front + 2)

    def action_previous_pane(self) -> None:
        self.action_show_pane(self._panes.front)

    def action_maximise(self) -> None:
        self.toggle_class("-alone")

    def action_restore(self) -> None:
        self.remove_class("-alone")

    def action_show_tab(self, distance: int) -> None:
        self._step.show_tab_beside(distance)

    def value_at_cursor(self) -> tuple[str, Any] | None:
        rows = self.rows_in_front()
        if isinstance(rows, ValuesView):
            return rows.named_value
        if rows is self._snapshots:
            return self._snapshots.value
        if rows is self._traffic and self._traffic.line is not None:
            return message_text(self._traffic.line)
        if rows is self._timeline and self._timeline.entry is not None:
            return "event", self._timeline.entry.event.body()
        return None

    # ---- the item lens

    def action_toggle_lens(self) -> None:
        if self._model.debugger.state.pool.count:
            self._set_lens(0 if self._model.lens is None else None)
        else:
            self.say("there are no items yet")

    def action_move_lens(self, distance: int) -> None:
        count = self._model.debugger.state.pool.count
        if count:
            at = self._model.lens if self._model.lens is not None else -1 if distance > 0 else count
            self._set_lens((at + distance) % count)

    def _set_lens(self, item: int | None) -> None:
        self._model.lens = item
        self.show_run()
        self._step.refresh_shown()

    # ---- the run

    def action_run(self, command: Command) -> None:
        self._engine.submit(self._engine.debugger.run, command)

    def action_retry(self) -> None:
        self._engine.submit(self._engine.debugger.retry)

    def action_pause(self) -> None:
        self._engine.submit(self._engine.debugger.pause)

    def action_cancel(self) -> None:
        self._engine.submit(self._engine.debugger.cancel)

    def action_restart(self) -> None:
        self._changes.restart()

    def action_restart_server(self) -> None:
        self._changes.restart_server()

    # ---- what can be changed

    def action_toggle_breakpoint(self) -> None:
        self._changes.toggle_breakpoint(self._selected_step())

    def action_switch_breakpoint(self) -> None:
        self._changes.switch_breakpoint(self._selected_step())

    def action_edit_breakpoint(self) -> None:
        self._changes.edit_breakpoint(self._selected_step())

    def action_decide(self) -> None:
        self._changes.decide()

    def action_edit(self) -> None:
        self._changes.edit(self.rows_in_front(), self._step, self._variables)

    def _selected_step(self) -> str | None:
        """The step at the tree's cursor; in the source, the one at that line."""
        source = self._step.source
        if self.rows_in_front() is source:
            step = self._engine.debugger.prepared.pipeline.step_at_line(source.cursor + 1)
        else:
            step = self._tree.step
        return step.path if step is not None else None
