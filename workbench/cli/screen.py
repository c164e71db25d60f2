"""Opens the screen, and says afterwards what it left: the only place where the command meets Textual."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.api.wiring import Wiring
from workbench.cli.exits import Exit
from workbench.cli.report import say

if TYPE_CHECKING:
    from workbench.cases.saved_run import SavedRun


def open_workbench(wiring: Wiring, *, starts_servers: bool = True) -> int:
    from workbench.tui.app import run_workbench

    try:
        outcome = run_workbench(wiring.prepared, wiring.debugger, starts_servers=starts_servers)
    except OSError as error:
        say(str(error))
        return Exit.WRONG
    if outcome.memory:
        say(f"memory file: {outcome.memory}")
    return outcome.code


def open_replay(runs: Sequence[SavedRun]) -> int:
    from workbench.tui.app import run_replay

    return run_replay(runs)
