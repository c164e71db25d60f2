"""The two apps: the workbench that runs a pipeline, and the one that looks at saved runs."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec import Struct
from textual.command import Provider
from textual.driver import Driver
from textual.message import Message

from workbench.engine.events import Event
from workbench.pipeline.config import Configuration, load_config
from workbench.pipeline.prepare import Prepared
from workbench.tui.actions import WORKBENCH
from workbench.tui.bridge import CommandFailed, EngineThread, MakeDebugger
from workbench.tui.dialogs import Confirm
from workbench.tui.keymap import read_keymap
from workbench.tui.model import Clock, Model
from workbench.tui.net import SafeApp
from workbench.tui.problem_log import log_problem
from workbench.tui.reloading import AskAbout
from workbench.tui.remembered import remember, remembered
from workbench.tui.terminal import Terminal
from workbench.tui.text import brief, visible
from workbench.tui.themes import FIRST_THEME, PLAIN_THEME, all_themes
from workbench.tui.welcome import Welcome
from workbench.tui.workbench_screen import WorkbenchScreen

if TYPE_CHECKING:
    from workbench.tui.desk import Desk, GoLive
    from workbench.tui.replay import ReplayScreen

CLOSE_SECONDS = 6.0
TERMINAL_SECONDS = 1.0
INTERRUPTED = 130
NOTES_SECONDS = 15.0
_WARNINGS_SHOWN = 3
_NOTES_SHOWN = 5


class Outcome(Struct, frozen=True):
    """How a session on the screen ended: the exit code, the memory file it left, and whether it was left midway."""

    code: int
    memory: str | None = None
    is_midway: bool = False


def _action_commands() -> type[Provider]:
    from workbench.tui.palette import ActionCommands

    return ActionCommands


class ThemedApp(SafeApp[Any]):
    """What both apps share: themes, palette, styles, and an end when they are told to or the terminal is gone."""

    CSS_PATH = "styles.tcss"
    TITLE = "ragwb"
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {_action_commands}

    def __init__(self, config: Configuration | None = None) -> None:
        super().__init__(ansi_color=True if "NO_COLOR" in os.environ else None)
        self.chosen_keys, self._complaints = read_keymap(config.keys if config is not None else {})

    def on_load(self) -> None:
        themes, complaints = all_themes()
        for theme in themes:
            self.register_theme(theme)
        kept = remembered("theme")
        self.theme = kept if kept in self.available_themes else PLAIN_THEME if self.no_color else FIRST_THEME
        self.notify_of([*complaints, *map(str, self._complaints)])

    def notify_of(self, complaints: Sequence[str]) -> None:
        """All of them in one notice, the first few in words."""
        shown = [brief(complaint) for complaint in complaints[:_WARNINGS_SHOWN]]
        more = [f"and {len(complaints) - _WARNINGS_SHOWN} more"] if len(complaints) > _WARNINGS_SHOWN else []
        if shown:
            self.notify("\n".join([*shown, *more]), severity="warning", timeout=NOTES_SECONDS, markup=False)

    def on_mount(self) -> None:
        if not self.is_headless:
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                asyncio.get_running_loop().add_signal_handler(number, self.leave_unasked)
            self.set_interval(TERMINAL_SECONDS, self._look_for_terminal)

    def get_driver_class(self) -> type[Driver]:
        return Terminal

    def _look_for_terminal(self) -> None:
        """Not every hangup sends a signal."""
        if isinstance(self._driver, Terminal) and self._driver.is_lost:
            self.leave_unasked()

    def leave_unasked(self) -> None:
        """End in good order, whatever is under way."""
        self.exit()

    def action_help_quit(self) -> None:
        """Ctrl-C leaves, as it ends other programs."""
        self.call_next(self.run_action, "app.quit")

    def action_command_palette(self) -> None:
        from workbench.tui.palette import Palette

        if not isinstance(self.screen, Palette):
            self.push_screen(Palette(id="--command-palette"))


class WorkbenchApp(ThemedApp):
    """Runs one pipeline. The first picture is painted before any server is asked for."""

    class EngineTold(Message):
        """The engine has something to tell."""

    def __init__(
        self,
        prepared: Prepared,
        make_debugger: MakeDebugger,
        *,
        clock: Clock = time.time,
        starts_servers: bool = True,
        welcomes: bool = False,
        notes: Sequence[str] = (),
        ask_about: AskAbout | None = None,
    ) -> None:
        """``ask_about`` says which programs have to be allowed before files that were saved may be read anew."""
        super().__init__(prepared.config)
        self._notes = notes
        self._welcomes = welcomes
        self._ask_about = ask_about
        self._starts_servers = starts_servers
        self.sub_title = visible(prepared.pipeline.file.name)
        self.engine = EngineThread(make_debugger, self._engine_told)
        self._model = Model(self.engine.debugger, clock)
        self._is_leaving = False
        self._was_interrupted = False
        self._question: Confirm | None = None

    def get_default_screen(self) -> WorkbenchScreen:
        return WorkbenchScreen(self.engine, self._model, self._ask_about)

    def on_mount(self) -> None:
        self.call_after_refresh(self.engine.start, starts_servers=self._starts_servers)
        if self._welcomes and remembered("welcomed") is None:
            self.call_after_refresh(self._welcome)
        self.notify_of([str(w) for w in self.engine.debugger.prepared.warnings if not w.is_note])
        if self._notes:
            self.notify("\n".join(map(brief, self._notes[:_NOTES_SHOWN])), timeout=NOTES_SECONDS, markup=False)

    def _welcome(self) -> None:
        """Explain the screen, once. A command's key does what it would have done without."""

        def closed(key: str | None) -> None:
            if key is not None:
                self.simulate_key(key)

        self.push_screen(Welcome(self.chosen_keys.shown(WORKBENCH)), closed)
        self.run_worker(partial(remember, "welcomed", True), thread=True, exit_on_error=False)

    # ---- the engine

    def _engine_told(self) -> None:
        """Called on the engine's thread."""
        self.post_message(self.EngineTold())

    def on_workbench_app_engine_told(self) -> None:
        told = self.engine.drain()
        self._model.take(one for one in told if isinstance(one, Event))
        for failed in (one for one in told if isinstance(one, CommandFailed)):
            self._show_failure(failed)
        if self._question is not None and self.engine.debugger.state.status != "running":
            self._question.dismiss()  # the step that it asks about has ended
            self._question = None
        screen = next(iter(self.screen_stack), None)  # none where it is closed already
        if isinstance(screen, WorkbenchScreen) and screen.is_mounted:
            screen.show_run()

    def _show_failure(self, failed: CommandFailed) -> None:
        message = failed.message
        if failed.bug is not None:
            file = log_problem(failed.bug)
            message += f" (more in {file})" if file is not None else ""
        self.notify(brief(message), severity="error", markup=False)

    # ---- the end

    async def action_quit(self) -> None:
        if self._is_leaving or self.engine.debugger.state.status != "running":
            self._leave()
        elif self._question not in self.screen_stack:
            self._question = Confirm("A step is running. Stop it and leave?")
            self.push_screen(self._question, self._answered)

    def action_help_quit(self) -> None:
        """The second Ctrl-C does not ask."""
        if self._question in self.screen_stack:
            self.leave_unasked()
        else:
            super().action_help_quit()

    def _answered(self, is_wanted: bool | None) -> None:
        if is_wanted:
            self._leave()

    def leave_unasked(self) -> None:
        if not self._is_leaving:
            self._was_interrupted = self.engine.debugger.state.status == "running"
            self._leave()

    def _leave(self) -> None:
        if self._is_leaving:
            return
        self._is_leaving = True
        self.notify("stopping the servers", timeout=CLOSE_SECONDS)
        self.run_worker(self._end(), exit_on_error=False)

    async def _end(self) -> None:
        code = 1 if self.engine.debugger.failed is not None else 0
        if self._was_interrupted:
            code = INTERRUPTED
        try:
            await self.engine.close(CLOSE_SECONDS)
            for failure in self.engine.drain():
                if isinstance(failure, CommandFailed) and failure.bug is not None:
                    log_problem(failure.bug)
        finally:
            self.exit(self.outcome(code))

    def outcome(self, code: int) -> Outcome:
        debugger = self.engine.debugger
        is_midway = bool(debugger.visits) and debugger.state.place.step is not None
        return Outcome(code, debugger.state.memory, is_midway)


class ReplayApp(ThemedApp):
    """Looks at saved runs."""

    def __init__(self, desk: Desk, config: Configuration | None = None) -> None:
        super().__init__(config)
        self._desk = desk

    def get_default_screen(self) -> ReplayScreen:
        from workbench.tui.replay import ReplayScreen

        return ReplayScreen(self._desk)


def run_workbench(
    prepared: Prepared,
    make_debugger: MakeDebugger,
    *,
    starts_servers: bool = True,
    notes: Sequence[str] = (),
    ask_about: AskAbout | None = None,
) -> Outcome:
    """Show a pipeline and run it as the user steers; returns when the screen is closed and every server has ended.

    Without ``starts_servers`` each is started when a step of it is run. ``notes`` are said when the screen opens.
    """
    app = WorkbenchApp(
        prepared, make_debugger, starts_servers=starts_servers, welcomes=True, notes=notes, ask_about=ask_about
    )
    _spare_the_collector()
    try:
        outcome: Outcome | None = app.run()
    finally:
        asyncio.run(app.engine.close(CLOSE_SECONDS))
    return outcome or app.outcome(app.return_code or 0)


def run_replay(desk: Desk) -> int | GoLive:
    """Show saved runs; returns when the screen is closed, or when the user wants to go live."""
    from workbench.tui.images import ask_the_terminal, names_images

    if desk.growing is None and names_images(studied.run for studied in desk.studies):
        ask_the_terminal()
    app = ReplayApp(desk, load_config(Path())[0])
    _spare_the_collector()
    left: GoLive | None = app.run()
    return left or app.return_code or 0


def _spare_the_collector() -> None:
    """Collect garbage seldom: a full collection over large values holds up the screen."""
    gc.set_threshold(20_000, 50, 1_000)
    gc.freeze()
    gc.enable()
