"""``ragwb resume SESSION``: go on where a session stopped; ``ragwb SESSION`` looks at it, with no server running."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from workbench.cli.exits import Exit
from workbench.cli.report import say, say_problems
from workbench.cli.run_command import run_to_the_end
from workbench.cli.trust import may_start
from workbench.cli.wiring import Wiring
from workbench.pipeline.fingerprint import differences, fingerprints
from workbench.pipeline.prepare import prepare
from workbench.pipeline.problems import PipelineError
from workbench.record.session_reader import SavedSession, SessionUnreadable, read_about, read_session


def resume(options: argparse.Namespace) -> int:
    wiring = _wiring(options.file)
    if wiring is None or not may_start(wiring.prepared, yes=options.yes):
        return Exit.WRONG
    if options.run or not _has_terminal():
        return run_to_the_end(wiring, options)
    return _show(wiring, starts_servers=True)


def look(options: argparse.Namespace) -> int:
    """Open a session on the screen; its servers start when a step is run."""
    if not _has_terminal():
        say(f"ragwb: the workbench needs a terminal; without one: ragwb resume {options.file}")
        return Exit.WRONG
    wiring = _wiring(options.file)
    if wiring is None or not may_start(wiring.prepared, yes=options.yes):
        return Exit.WRONG
    return _show(wiring, starts_servers=False)


def _has_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _show(wiring: Wiring, *, starts_servers: bool) -> int:
    from workbench.cli.screen import open_workbench

    return open_workbench(wiring, starts_servers=starts_servers)


def _wiring(path: Path) -> Wiring | None:
    """The session, ready to go on with; None, and the reason said, where that can't be."""
    try:
        about = read_about(path)
        options = about.get("options", {})
        prepared = prepare(
            Path(about["pipeline"]),
            param_file=options.get("param"),
            sets=options.get("sets") or [],
            mcp_config=options.get("mcp_config"),
        )
        saved = read_session(path, prepared.parameters, prepared.secrets)
    except SessionUnreadable as error:
        say(str(error))
        return None
    except PipelineError as error:
        say(f"{path}: the pipeline of this session can't be read any more:")
        say_problems(error)
        return None
    if saved.interrupted is not None:
        say(f"{saved.interrupted} was interrupted in its call: it runs anew")
    for what in differences(saved.pipeline.fingerprints, fingerprints(prepared)):
        say(f"changed since: {what}{_touched(what, saved)}")
    return Wiring(prepared, options, saved)


def _touched(what: str, saved: SavedSession) -> str:
    """Which visits ran with what a server or its parameters were; they are not run again."""
    alias = what.rpartition(" ")[2]
    visits = [visit.number for visit in saved.timelines[saved.present].visits if visit.alias == alias]
    if what == "pipeline" or not visits:
        return ""
    numbers = ", ".join(map(str, visits[:8])) + (f" and {len(visits) - 8} more" if len(visits) > 8 else "")
    return f"; {'visit' if len(visits) == 1 else 'visits'} {numbers} ran with what it was (go back to run anew)"
