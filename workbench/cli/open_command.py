"""``ragwb FILE``: a pipeline opens in the debugger, a memory file in the study of saved runs."""

from __future__ import annotations

import argparse
import gc
import sys

from workbench.cli.exits import Exit
from workbench.cli.named import found_pipeline
from workbench.cli.report import say, say_problems
from workbench.cli.trust import may_start
from workbench.engine.breakpoints import Breakpoint
from workbench.engine.expressions import ExpressionError, check_expression
from workbench.pipeline.model import walk
from workbench.pipeline.prepare import Prepared, prepare
from workbench.pipeline.problems import PipelineError, nearest
from workbench.record.session_schema import is_session

SAVED = (".json", ".jsonl")


def open_file(options: argparse.Namespace) -> int:
    # Until the screen is there nothing is garbage: collecting would only put off the first picture.
    gc.disable()
    options.file = found_pipeline(options.files[0])
    if options.file.suffix in SAVED:
        from workbench.cli.replay_command import replay

        options.json = False
        return replay(options)
    if len(options.files) > 1:
        say(f"only saved runs can be opened side by side; {options.file} is none")
        return Exit.WRONG
    if is_session(options.file):
        from workbench.cli.resume_command import look

        return look(options)
    try:
        prepared = prepare(options.file, param_file=options.param, sets=options.sets, mcp_config=options.mcp_config)
        breakpoints = [_breakpoint(text, prepared) for text in options.breaks]
    except PipelineError as error:
        say_problems(error)
        return Exit.WRONG
    except BreakpointWrong as error:
        say(f"--break {error}")
        return Exit.WRONG
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        say(f"ragwb: the workbench needs a terminal; without one: ragwb run {options.file}")
        return Exit.WRONG
    if not may_start(prepared, yes=options.yes):
        return Exit.WRONG
    from workbench.cli.screen import open_workbench
    from workbench.cli.wiring import Wiring, recorded_options

    return open_workbench(Wiring(prepared, recorded_options(options)), breakpoints)


class BreakpointWrong(Exception):
    """``--break`` names no step of the pipeline, or its condition can't be read."""


def _breakpoint(text: str, prepared: Prepared) -> Breakpoint:
    """``STEP`` or ``STEP:CONDITION``; a step is named by its path or as server.tool."""
    name, _, condition = text.partition(":")
    name = name.strip()
    steps = list(walk(prepared.pipeline.steps))
    for step in steps:
        if name in (step.path, step.name):
            return Breakpoint(step.path, _condition(condition.strip(), name))
    known = {step.path for step in steps} | {step.name for step in steps}
    raise BreakpointWrong(f"{name}: there is no such step{nearest(name, known, noun='steps')}")


def _condition(text: str, name: str) -> str | None:
    try:
        if text:
            check_expression(text)
    except ExpressionError as error:
        raise BreakpointWrong(f"{name}: {error}") from None
    return text or None
