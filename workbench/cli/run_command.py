"""``ragwb run``: a pipeline without a screen. Progress goes to stderr, the result to stdout."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import signal
from collections.abc import Callable, Iterator
from typing import Any

from workbench.api.wiring import Wiring, recorded_options
from workbench.cli.exits import Exit
from workbench.cli.named import found_pipeline
from workbench.cli.narrator import Narrator, narrator_for
from workbench.cli.printing import EventPrinter, print_json, print_text
from workbench.cli.report import say, say_problems
from workbench.cli.result import as_json, as_text
from workbench.cli.stops import as_lines, given_stops, what_is_there
from workbench.cli.trust import may_start
from workbench.engine.debugger import Debugger
from workbench.engine.events import Event, Stopped
from workbench.engine.expressions import ExpressionError
from workbench.engine.ports import ServerStartFailed
from workbench.pipeline.prepare import Prepared, prepare
from workbench.pipeline.problems import PipelineError
from workbench.record.redaction import Redactor

REMINDER_SECONDS = 10


def run(options: argparse.Namespace) -> int:
    try:
        file = found_pipeline(options.file)
        prepared = prepare(file, param_file=options.param, sets=options.sets, mcp_config=options.mcp_config)
        breaks, watches = given_stops(options, prepared)
    except PipelineError as error:
        say_problems(error)
        return Exit.WRONG
    except ExpressionError as error:
        say(f"{file}: {error}")
        return Exit.WRONG
    if not may_start(prepared, yes=options.yes):
        return Exit.WRONG
    for warning in prepared.warnings:
        if not warning.is_note:
            say(str(warning))
    wiring = Wiring(
        prepared,
        recorded_options(options.param, options.sets, options.mcp_config),
        say=say,
        keeps_session=not options.no_session,
        breaks=breaks,
        watches=watches,
    )
    return run_to_the_end(wiring, options)


def run_to_the_end(wiring: Wiring, options: argparse.Namespace) -> int:
    """Run what is wired, from where it stands; prints the result as the options ask."""
    narrator = narrator_for(wiring.prepared.pipeline, quiet=options.quiet)
    wiring.warn = narrator.warn
    with narrator:
        code, debugger = asyncio.run(_run(wiring, narrator, options))
    if debugger is None:
        return code
    if debugger.state.memory:
        say(f"memory file: {debugger.state.memory}")
    if code == Exit.WELL and not narrator.is_record_whole:
        code = Exit.FAILED  # the run is well, and what it was run for is not there
    if code in (Exit.FAILED, Exit.STOPPED, Exit.INTERRUPTED) and wiring.session is not None and debugger.visits:
        say(f"to go on from there: ragwb resume {wiring.session}")
    _print_result(wiring.prepared, options, debugger, code)
    return code


async def _run(wiring: Wiring, narrator: Narrator, options: argparse.Namespace) -> tuple[int, Debugger | None]:
    """Run to the end; whatever happens, the servers are stopped and the record is complete afterwards."""
    task = asyncio.current_task()
    assert task is not None
    log = wiring.event_log(EventPrinter(task.cancel)) if options.events else None

    def emit(event: Event) -> None:
        narrator.tell(event)
        if log is not None:
            log(event)

    try:
        debugger = wiring.debugger(emit)
    except OSError as error:
        narrator.warn(str(error))
        return Exit.WRONG, None
    redactor = Redactor.of(wiring.prepared.parameters, wiring.prepared.secrets)

    def goes_on(stop: Stopped) -> bool:
        if log is not None and options.on_break != "continue":
            redactor.emit(log)(what_is_there(debugger, stop))
        elif options.on_break == "dump":
            narrator.warn(as_lines(what_is_there(debugger, stop), redactor))
        return bool(options.on_break != "stop")

    with _interruptible(task):
        try:
            return await _to_the_end(debugger, narrator, goes_on), debugger
        except asyncio.CancelledError:
            return Exit.INTERRUPTED, debugger
        finally:
            await debugger.close()


async def _to_the_end(debugger: Debugger, narrator: Narrator, goes_on: Callable[[Stopped], bool]) -> int:
    """Run on until the end, a failure, or a breakpoint at which the run does not go on."""
    reminders = asyncio.create_task(_remind(narrator))
    try:
        await debugger.open(wait_for_servers=True)
    except (OSError, PipelineError) as error:
        narrator.warn(str(error))
        return Exit.WRONG
    except ServerStartFailed as error:
        narrator.warn(str(error))
        return Exit.NO_SERVER
    finally:
        reminders.cancel()
    if debugger.state.status == "finished":
        return Exit.WELL
    if debugger.is_rebuilding and debugger.state.stop is not None:
        narrator.warn(debugger.state.stop.why)
        return Exit.STOPPED
    while (stopped := await debugger.run("continue")).reason == "breakpoint":
        if not goes_on(stopped):
            return Exit.STOPPED
    if stopped.reason == "finished":
        return Exit.WELL
    narrator.warn(f"step {stopped.step} failed: {stopped.why}")
    return Exit.FAILED


async def _remind(narrator: Narrator) -> None:
    """A server may take minutes to start; a sign of life every so often."""
    begin = asyncio.get_running_loop().time()
    while True:
        await asyncio.sleep(REMINDER_SECONDS)
        narrator.remind(asyncio.get_running_loop().time() - begin)


@contextlib.contextmanager
def _interruptible(task: asyncio.Task[Any]) -> Iterator[None]:
    """Ctrl-C, a polite kill and a lost terminal cancel the run, once; what follows is an orderly end."""
    loop = asyncio.get_running_loop()
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    has_come = False

    def interrupt() -> None:
        nonlocal has_come
        if not has_come:
            has_come = True
            task.cancel()

    for number in signals:
        loop.add_signal_handler(number, interrupt)
    try:
        yield
    finally:
        for number in signals:
            loop.remove_signal_handler(number)


def _print_result(prepared: Prepared, options: argparse.Namespace, debugger: Debugger, code: int) -> None:
    redactor = Redactor.of(prepared.parameters, prepared.secrets)
    if options.json:
        print_json(as_json(debugger, code, redactor))
    elif not options.events and code == Exit.STOPPED and debugger.state.stop is not None:
        print_text(as_lines(what_is_there(debugger, debugger.state.stop), redactor))
    elif not options.events and code == Exit.WELL:
        text = as_text(debugger, redactor)
        if text:
            print_text(text)
