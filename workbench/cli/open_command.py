"""``ragwb FILE``: a pipeline opens in the debugger, a memory file in the study of saved runs."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from workbench.cli.exits import Exit
from workbench.cli.named import found_pipeline
from workbench.cli.report import has_terminal, not_one, say, say_problems
from workbench.cli.stops import given_stops
from workbench.cli.trust import may_start
from workbench.engine.expressions import ExpressionError
from workbench.pipeline.prepare import Prepared, prepare
from workbench.pipeline.problems import PipelineError, close_names, did_you_mean
from workbench.pipeline.user_folders import state_folder
from workbench.record.session_schema import is_session

SAVED = (".json", ".jsonl")


def _command_meant(word: str) -> str:
    """The command that a misspelt one may have meant, as the end of a message."""
    from workbench.cli.main import COMMANDS

    close = close_names(word, COMMANDS)
    return f"; nor is it a command{did_you_mean(close)}" if close else ""


def open_file(options: argparse.Namespace) -> int:
    options.file = found_pipeline(options.files[0])
    if _is_study(options.file, len(options.files)):
        from workbench.cli.main import parser
        from workbench.cli.replay_command import replay

        return replay(parser().parse_args(["replay", *map(str, options.files)]))
    if len(options.files) > 1:
        first = str(options.files[0])
        say(f"only saved runs can be opened side by side; {first} is none{_command_meant(first)}")
        return Exit.WRONG
    if is_session(options.file):
        from workbench.cli.resume_command import look

        return look(options)
    prepared = _prepared(options)
    if prepared is None:
        return Exit.WRONG
    try:
        breaks, watches = given_stops(options, prepared)
    except ExpressionError as error:
        say(f"{options.file}: {error}")
        return Exit.WRONG
    if not has_terminal():
        say(f"ragwb: the workbench needs a terminal{not_one()}; without one: ragwb run {options.file}")
        return Exit.WRONG
    if not may_start(prepared, yes=options.yes):
        return Exit.WRONG
    from workbench.api.wiring import Wiring, recorded_options
    from workbench.cli.screen import open_workbench
    from workbench.record.breakpoints_file import BreakpointsFile

    wiring = Wiring(
        prepared,
        recorded_options(options.param, options.sets, options.mcp_config),
        say=say,
        breaks=breaks,
        watches=watches,
        breakpoints_file=BreakpointsFile(state_folder(), prepared.pipeline),
    )
    return open_workbench(wiring, yes=options.yes)


def _is_study(file: Path, count: int) -> bool:
    """Whether a file is for the study of saved runs. One session alone is for going on with it."""
    return file.suffix in SAVED or file.is_dir() or (count > 1 and is_session(file))


def _prepared(options: argparse.Namespace) -> Prepared | None:
    """The pipeline; None, and its mistakes said or shown, where it can't be run and was not mended."""
    again = partial(prepare, options.file, param_file=options.param, sets=options.sets, mcp_config=options.mcp_config)
    try:
        return again()
    except PipelineError as error:
        if not has_terminal() or not any(problem.file.is_file() for problem in error.problems):
            say_problems(error)
            return None
        from workbench.cli.screen import mend

        return mend(options.file, again, error)
