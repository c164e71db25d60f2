"""The main screen: a pipeline, the run of it, and every command to steer it."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from workbench.tui.actions import WORKBENCH
from workbench.tui.bars import Bar
from workbench.tui.bridge import EngineThread
from workbench.tui.changes import Changes
from workbench.tui.console import Console
from workbench.tui.console_commands import ConsoleCommands
from workbench.tui.console_work import ConsoleWork
from workbench.tui.diff_viewer import DiffViewer
from workbench.tui.expressions import Expressions
from workbench.tui.filter_bar import FilterBar
from workbench.tui.help import WORKBENCH_SIGNS
from workbench.tui.item_dialog import ItemDialog
from workbench.tui.keymap import keymap_of
from workbench.tui.looking import Looking
from workbench.tui.message_text import message_text
from workbench.tui.model import Model
from workbench.tui.panes import PaneArea
from workbench.tui.pipeline_tree import PipelineTree
from workbench.tui.questions import Questions
from workbench.tui.reloading import LOOK_SECONDS, AskAbout, Reloading
from workbench.tui.rows import RowsView
from workbench.tui.run_screen import RunScreen
from workbench.tui.snapshots import Snapshots
from workbench.tui.status_line import place_parts, reason_parts
from workbench.tui.step_pane import StepPane
from workbench.tui.timeline import Timeline
from workbench.tui.traffic_pane import TrafficPane
from workbench.tui.values_view import ValuesView
from workbench.tui.variables_pane import VariablesPane
from workbench.tui.viewer import ValueViewer

TICK_SECONDS = 0.5


class WorkbenchScreen(RunScreen):
    """Lays out the panes, and hands commands to the engine."""

    ACTIONS = WORKBENCH
    SIGNS = WORKBENCH_SIGNS
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "restore", show=False)]

    def __init__(self, engine: EngineThread, model: Model, ask_about: AskAbout | None = None) -> None:
        self._tree = PipelineTree(engine.debugger.prepared.pipeline, model, id="pipeline")
        self._step = StepPane(model, id="step")
        expressions = Expressions(engine, model)
        self._variables = VariablesPane(model, expressions, id="variables")
        self._timeline = Timeline(model, id="timeline")
        self._traffic = TrafficPane(model, id="traffic")
        self._snapshots = Snapshots(model, id="snapshots")
        upper, lower = [self._tree, self._step, self._variables], [self._timeline, self._traffic, self._snapshots]
        super().__init__(PaneArea(upper, lower))
        self._engine = engine
        self._model = model
        self._changes = Changes(self, engine, model)
        self._looking = Looking(self, engine, model, expressions, self._variables)
        commands = ConsoleCommands(
            engine, model, run=self.action_run, pin=self.pin, actions=WORKBENCH, act=self.run_action
        )
        self._console_work = ConsoleWork(self, model, expressions, commands)
        self._questions = Questions(self, engine, model)
        self._reloading = Reloading(self, engine, model, ask_about)
        self._shown_pipeline = engine.debugger.prepared
        self._seen_stop: object = None
        self._looked_from: object = None
        self._is_new = True
        """Whether the run has not stood anywhere yet."""

    def compose_foot(self) -> ComposeResult:
        yield FilterBar()
        yield self._console_work.console
        yield from super().compose_foot()

    def on_mount(self) -> None:
        self._tree.focus()
        self.show_run()
        self.set_interval(TICK_SECONDS, partial(self.call_later, self._tick))
        self.set_interval(LOOK_SECONDS, self._look_for_saves)

    # ---- showing

    def on_screen_resume(self) -> None:
        self._questions.look()
        self._show_status()

    def show_run(self) -> None:
        """Show how things stand, after events have come in."""
        if self._engine.debugger.prepared is not self._shown_pipeline:
            self._show_pipeline()
        if self._is_new and self._engine.debugger.state.status in ("stopped", "finished"):
            self._is_new = False
            if self._engine.debugger.visits:
                self._hear_what_was_before()
        self._return_when_the_run_moves()
        self._take_lens_off_what_is_gone()
        self._questions.look()
        self._show_status()
        self._tree.show()
        self._variables.show_pool()
        self._evaluate()
        self._timeline.show()
        self._traffic.show()
        self._snapshots.show()
        if self._is_at_new_place() and self._model.looked_at is None:
            self._step.show(self._tree.step)
        elif self._model.debugger.state.status != "running":
            self._step.refresh_shown()

    @work(group="looking traffic", exit_on_error=False)
    async def _hear_what_was_before(self) -> None:
        """Of a session that is gone on with: what went over the wire then."""
        self._model.traffic.put_before(await self._engine.look(self._engine.debugger.heard))
        self._traffic.show()

    @work(group="saves")
    async def _look_for_saves(self) -> None:
        before = self._model.saved_files
        await self._reloading.look()
        if self._model.saved_files != before:
            self._show_status()

    @work(group="looking expressions", exclusive=True, exit_on_error=False)
    async def _evaluate(self) -> None:
        await self._looking.evaluate()

    @work(group="reload")
    async def action_reload(self) -> None:
        await self._reloading.ask()
        self.show_run()

    def _show_pipeline(self) -> None:
        """The pipeline was read anew: the panes that show its text and its steps show the new one."""
        self._shown_pipeline = self._engine.debugger.prepared
        self._tree.reload(self._shown_pipeline.pipeline)
        self._step.source.reload()

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
        keys = keymap_of(self.app).shown(self.ACTIONS)
        self.query_one("#reason", Bar).show(*reason_parts(self._model, self.size.width, keys))

    def _tick(self) -> None:
        """Clocks go on where nothing else happens."""
        self._show_status()
        if self._model.debugger.state.status == "running":
            self._tree.refresh()

    @on(RowsView.Highlighted, "#pipeline")
    def _step_selected(self) -> None:
        self._step.show(self._tree.step)

    # ---- the past, looked at without going there

    @on(RowsView.Highlighted, "#timeline")
    def _visit_selected(self) -> None:
        entry = self._timeline.entry
        visit = self._model.visit(entry.visit) if entry is not None and entry.visit is not None else None
        if visit is None:
            return
        self._model.look_at(visit.number)
        self._tree.select(visit.step)
        self._step.show(self._model.debugger.program.steps.get(visit.step), visit)
        self._snapshots.select(visit.number)
        self._traffic.select(visit.number)
        self._show_looked_at()

    def _show_looked_at(self) -> None:
        self._show_status()
        self._tree.show()
        self._variables.show_pool()
        self._timeline.rows_changed()
        self._evaluate()

    def _return_when_the_run_moves(self) -> None:
        stop = self._model.debugger.state.stop
        if stop is not self._looked_from:
            self._looked_from = stop
            self._model.looked_at = None

    def action_restore(self) -> None:
        """Back to the present; there, a pane that stands alone gets the others back."""
        if self._model.looked_at is None:
            super().action_restore()
            return
        self._model.looked_at = None
        self._tree.select(self._model.debugger.state.place.step)
        self._timeline.go_to_present()
        self._step.show(self._tree.step)
        self._show_looked_at()

    @on(RowsView.Chosen)
    def _look_closer(self) -> None:
        if self.rows_in_front() is self._tree:
            self.action_show_pane(2)
            return
        if self.rows_in_front() is self._timeline and self._go_before_visit():
            return
        found = self.value_at_cursor()
        if found is not None:
            self.app.push_screen(ValueViewer(*found))

    def _go_before_visit(self) -> bool:
        """Take the run to the checkpoint before the visit at the timeline's cursor, if there is one."""
        debugger, entry = self._engine.debugger, self._timeline.entry
        if entry is None or entry.visit is None or debugger.timeline.index_of(entry.visit) is None:
            return False
        self._go(debugger.go_to, entry.visit)
        return True

    # ---- panes

    def rows_in_front(self) -> RowsView:
        if self._panes.panes[self._panes.front] is self._step:
            return self._step.view
        return super().rows_in_front()

    def action_last_visit(self) -> None:
        """Show the visit that came last; or, where a past one is shown, the selected step again."""
        debugger = self._engine.debugger
        visit = debugger.failed or next(reversed(debugger.visits), None)
        if visit is None:
            self.say("no step has run yet")
        elif self._step.is_past:
            self._step.show(self._tree.step)
        else:
            self._step.show(debugger.program.steps.get(visit.step), visit)
            self._step.show_result()
            self.action_show_pane(2)

    def action_show_tab(self, distance: int) -> None:
        self._step.show_tab_beside(distance)

    def action_switch_source(self) -> None:
        self._step.switch_source()
        self.action_show_pane(2)

    def action_filter(self) -> None:
        self._looking.filter(self.rows_in_front())

    @on(FilterBar.Ended)
    @on(Console.Ended)
    def _end_typing(self) -> None:
        self.set_focus(self.rows_in_front())

    def action_console(self) -> None:
        self._console_work.console.open()

    @on(Console.Entered)
    def _console_entered(self, event: Console.Entered) -> None:
        self._enter(event.text)

    @work(group="looking console", exit_on_error=False)
    async def _enter(self, line: str) -> None:
        await self._console_work.enter(line)

    def action_next_pane(self) -> None:
        """Tab; where the console is typed in it completes."""
        console = self._console_work.console
        if console.has_pseudo_class("focus-within"):
            console.complete()
        else:
            super().action_next_pane()

    def action_copy_request(self) -> None:
        request = self._traffic.request if self.rows_in_front() is self._traffic else None
        if request is None:
            self.say("select a request or its answer in the traffic")
            return
        self.app.copy_to_clipboard(request)
        self.say(f"copied the request: {len(request):,} characters")

    def action_add_expression(self) -> None:
        self._looking.put_expression(None)

    def action_remove_expression(self) -> None:
        self._looking.remove_expression()

    @work(group="looking", exit_on_error=False)
    async def action_history(self) -> None:
        await self._looking.show_history()

    def action_mark(self) -> None:
        if self.rows_in_front() is not self._snapshots:
            self.say("select a snapshot to mark, then another to compare it with")
            return
        two = self._snapshots.mark()
        if two is not None:
            self.app.push_screen(DiffViewer(*two))

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

    @property
    def lens(self) -> int | None:
        return self._model.lens

    def item_count(self) -> int:
        return self._model.debugger.state.pool.count or 0

    def _take_lens_off_what_is_gone(self) -> None:
        """A run that was begun anew may have fewer items."""
        lens, count = self._model.lens, self._model.debugger.state.pool.count
        if lens is not None and count is not None and lens >= count:
            self._model.lens = None
            self.say(f"there is no item [{lens}] any more, only {count}: no item is pinned")

    def action_find_item(self) -> None:
        if self.item_count():
            self.app.push_screen(ItemDialog(self._model.pool), self._pin_found)
        else:
            self.say("there are no items")

    def _pin_found(self, item: int | None) -> None:
        if item is not None:
            self.pin(item)

    def pin(self, item: int | None) -> None:
        self._model.lens = item
        self.show_run()
        self._step.refresh_shown()

    # ---- what can be edited

    def action_edit(self) -> None:
        if self.rows_in_front() is self._variables and self._variables.expression is not None:
            self._looking.put_expression(self._variables.expression)
        elif self.rows_in_front() is self._variables and self._model.looked_at is not None:
            self.say("these are past values: Esc returns to the present; Enter in the timeline goes there")
        elif not self._changes.edit(self.rows_in_front(), self._step, self._variables):
            self._step.show_tab(0)
            self.action_show_pane(2)
            self.say(
                "select what is to be edited: an input of the step that runs next, an output, a variable or a parameter"
            )

    def action_edit_outside(self) -> None:
        """The dialog of `edit`, which hands over to the editor at once."""
        before = self.app.screen
        self.action_edit()
        if self.app.screen is not before:
            self.call_after_refresh(self.app.screen.run_action, "edit_outside")

    def _selected_step(self) -> str | None:
        """The step at the tree's cursor; in the source, the one at that line."""
        source = self._step.source
        if self.rows_in_front() is source and source.step_line is not None:
            step = self._engine.debugger.prepared.pipeline.step_at_line(source.step_line)
        else:
            step = self._tree.step
        return step.path if step is not None else None
