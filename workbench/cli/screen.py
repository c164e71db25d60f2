"""Opens the screen, and says afterwards what it left: the only place where the command meets Textual."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.cases.saved_run import SavedRun
from workbench.cli.report import say
from workbench.cli.wiring import debugger_for
from workbench.engine.breakpoints import Breakpoint
from workbench.pipeline.prepare import Prepared


def open_workbench(prepared: Prepared, breakpoints: Sequence[Breakpoint]) -> int:
    from workbench.tui.app import run_workbench

    outcome = run_workbench(prepared, lambda emit: debugger_for(prepared, emit), breakpoints)
    if outcome.memory:
        say(f"memory file: {outcome.memory}")
    return outcome.code


def open_replay(runs: Sequence[SavedRun]) -> int:
    from workbench.tui.app import run_replay

    return run_replay(runs)
