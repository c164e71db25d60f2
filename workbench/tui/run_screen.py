"""The commands of the main screen that steer the run: each hands over to the engine, or to a dialog that does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.engine.state import Command
from workbench.tui.bridge import EngineThread
from workbench.tui.changes import Changes
from workbench.tui.model import Model
from workbench.tui.pane_screen import PaneScreen
from workbench.tui.questions import Questions


class RunScreen(PaneScreen):
    """Subclasses make these parts, and say which step is selected."""

    _engine: EngineThread
    _model: Model
    _changes: Changes
    _questions: Questions

    def _show_status(self) -> None:
        raise NotImplementedError

    def _selected_step(self) -> str | None:
        """The path of the step at the cursor."""
        raise NotImplementedError

    # ---- the run

    def action_run(self, command: Command) -> None:
        self._go(self._engine.debugger.run, command)

    def action_retry(self) -> None:
        debugger = self._engine.debugger
        if debugger.failed is None and debugger.routes is None:
            self.say("nothing has failed here")
        else:
            self._go(debugger.retry)

    def _go(self, command: Callable[..., Any], *args: Any) -> None:
        if self._engine.debugger.state.status != "running":
            self._model.is_pausing = False  # the engine forgets of a pause, too
        self._engine.submit(command, *args)

    def action_step_back(self) -> None:
        self._go(self._engine.debugger.step_back)

    def action_step_forth(self) -> None:
        self._go(self._engine.debugger.step_forth)

    def action_round_back(self) -> None:
        self._go(self._engine.debugger.round_back)

    def action_go_to_end(self) -> None:
        self._go(self._engine.debugger.go_to_end)

    def action_pause(self) -> None:
        self._model.is_pausing = True
        self._engine.submit(self._engine.debugger.pause)
        self._show_status()

    def action_cancel(self) -> None:
        self._engine.submit(self._engine.debugger.cancel)

    def action_answer(self) -> None:
        self._questions.bring()

    def action_switch_timeline(self) -> None:
        self._changes.switch_timeline()

    def action_compare_timelines(self) -> None:
        self._changes.compare_timelines()

    def action_answers(self) -> None:
        self._changes.choose_answers()

    def action_switch_failures(self) -> None:
        self._changes.switch_failures()

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

    def action_watch(self) -> None:
        self._changes.watch()

    def action_list_breakpoints(self) -> None:
        self._changes.list_breakpoints()

    def action_decide(self) -> None:
        self._changes.decide()
