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
from workbench.record.session_reader import SessionUnreadable, read_about, read_session


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

    return open_workbench(wiring, [], starts_servers=starts_servers)


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
        saved = read_session(path, prepared.parameters.values)
    except SessionUnreadable as error:
        say(str(error))
        return None
    except PipelineError as error:
        say(f"{path}: the pipeline of this session can't be read any more:")
        say_problems(error)
        return None
    changed = differences(about.get("fingerprints", {}), fingerprints(prepared))
    if changed:
        say(f"changed since the session was kept: {', '.join(changed)}; steps that have run are not run again")
    return Wiring(prepared, options, saved)
