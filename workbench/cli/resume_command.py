"""``ragwb resume SESSION``: go on where a session stopped; ``ragwb SESSION`` looks at it, with no server running."""

from __future__ import annotations

import argparse

from workbench.api.resuming import saved_wiring
from workbench.api.wiring import Wiring
from workbench.cli.exits import Exit
from workbench.cli.report import has_terminal, not_one, say, say_problems
from workbench.cli.run_command import run_to_the_end
from workbench.cli.stops import given_stops
from workbench.cli.trust import may_start
from workbench.engine.expressions import ExpressionError
from workbench.pipeline.problems import PipelineError
from workbench.record.session_reader import SessionUnreadable


def resume(options: argparse.Namespace) -> int:
    wiring = _wiring(options)
    if wiring is None or not may_start(wiring.prepared, yes=options.yes):
        return Exit.WRONG
    if options.run or not has_terminal():
        wiring.only_given = True
        return run_to_the_end(wiring, options)
    return _show(wiring, starts_servers=True, yes=options.yes)


def look(options: argparse.Namespace) -> int:
    """Open a session on the screen; its servers start when a step is run."""
    if not has_terminal():
        say(f"ragwb: the workbench needs a terminal{not_one()}; without one: ragwb resume {options.file}")
        return Exit.WRONG
    wiring = _wiring(options)
    if wiring is None or not may_start(wiring.prepared, yes=options.yes):
        return Exit.WRONG
    return _show(wiring, starts_servers=False, yes=options.yes)


def _show(wiring: Wiring, *, starts_servers: bool, yes: bool) -> int:
    from workbench.cli.screen import open_workbench

    return open_workbench(wiring, starts_servers=starts_servers, yes=yes)


def _wiring(options: argparse.Namespace) -> Wiring | None:
    """The session, ready to go on with; None, and the reason said, where that can't be."""
    try:
        wiring = saved_wiring(options.file, say=say)
        wiring.breaks, wiring.watches = given_stops(options, wiring.prepared)
    except SessionUnreadable as error:
        say(str(error))
    except PipelineError as error:
        say(f"{options.file}: the pipeline of this session can't be read any more:")
        say_problems(error)
    except ExpressionError as error:
        say(f"{options.file}: {error}")
    else:
        return wiring
    return None
