"""``ragwb replay FILE...``: saved runs on the screen, or as JSON; ``--live`` runs on from a visit of one."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, get_args

from workbench.cases.growing import GrowingRuns, is_large
from workbench.cases.opening import OpenedRun
from workbench.cases.roles import RoleError, read_role
from workbench.cases.saved_run import RunUnreadable, SavedRun, whole
from workbench.cli.exits import Exit
from workbench.cli.opened import WrongUse, opened_runs
from workbench.cli.printing import print_json
from workbench.cli.report import has_terminal, say, say_problems
from workbench.cli.stops import given_stops
from workbench.engine.expressions import ExpressionError
from workbench.engine.recording import Answers
from workbench.pipeline.problems import PipelineError

if TYPE_CHECKING:
    from workbench.tui.desk import GoLive

_ANSWERS: dict[str, Answers] = {"run": "run", "equal": "recorded if equal", "recorded": "recorded"}
assert set(_ANSWERS.values()) == set(get_args(Answers))


def replay(options: argparse.Namespace) -> int:
    try:
        if options.live is not None:
            return _live_from_command(options)
        if options.run or options.answer or options.answers is not None or options.breaks or options.watches:
            raise WrongUse("--run, --answers, --answer, --break and --watch belong to --live VISIT")
        if options.json:
            print_json([_summary(opened.run) for opened in _all_runs(options)])
            return Exit.WELL
        return _on_screen(options)
    except WrongUse as error:
        if str(error):
            say(str(error))
        return Exit.WRONG


def _all_runs(options: argparse.Namespace) -> list[OpenedRun]:
    return [opened for file in options.files for opened in opened_runs(file, options.pipeline)]


def _on_screen(options: argparse.Namespace) -> int:
    growing = _growing(options) if len(options.files) == 1 and is_large(options.files[0]) else None
    runs = growing.first_runs() if growing is not None else _all_runs(options)
    named = _roles(options)
    if not has_terminal():
        raise WrongUse(
            f"ragwb: the study of a run needs a terminal; without one: ragwb replay --json {options.files[0]}"
        )
    from workbench.cli.screen import open_replay

    compares = len(options.files) == 2
    left = open_replay(runs, named=named, metric=options.metric, growing=growing, compares=compares, refusal=_refusal)
    if isinstance(left, int):
        return left
    return _live(left.opened, left.visit, left.answers, dict(left.by_step or {}), options)


def _roles(options: argparse.Namespace) -> dict[str, str]:
    try:
        return dict(map(read_role, options.roles))
    except RoleError as error:
        raise WrongUse(str(error)) from None


def _growing(options: argparse.Namespace) -> GrowingRuns:
    try:
        growing = GrowingRuns(options.files[0], options.pipeline)
        growing.first_runs()
        return growing
    except RunUnreadable as error:
        raise WrongUse(str(error)) from None
    except PipelineError as error:
        say_problems(error)
        raise WrongUse("") from None


# ---- going live


def _refusal(live: GoLive) -> str | None:
    """What keeps a run from being gone on with, found out while its screen is still there."""
    from workbench.api.going_live import NotLive, live_wiring

    try:
        live_wiring(live.opened, live.visit, answers=live.answers, by_step=live.by_step)
    except (NotLive, PipelineError) as error:
        return str(error)
    return None


def _live_from_command(options: argparse.Namespace) -> int:
    by_step = dict(_answer_of_step(text) for text in options.answer)
    runs = opened_runs(options.files[0], options.pipeline)
    return _live(runs[0], options.live, _ANSWERS[options.answers or "run"], by_step, options)


def _answer_of_step(text: str) -> tuple[str, Answers]:
    step, _, answers = text.rpartition("=")
    if not step or answers not in _ANSWERS:
        raise WrongUse(f"--answer {text}: write STEP=run, STEP=equal or STEP=recorded, as in `5.4=recorded`")
    return step, _ANSWERS[answers]


def _live(
    opened: OpenedRun, visit: int, answers: Answers, by_step: dict[str, Answers], options: argparse.Namespace
) -> int:
    from workbench.api.going_live import NotLive, live_wiring
    from workbench.cli.trust import may_start
    from workbench.pipeline.user_folders import state_folder
    from workbench.record.breakpoints_file import BreakpointsFile

    try:
        wiring = live_wiring(opened, visit, answers=answers, by_step=by_step, say=say)
        wiring.breaks, wiring.watches = given_stops(options, wiring.prepared)
    except (NotLive, ExpressionError) as error:
        raise WrongUse(str(error)) from None
    except PipelineError as error:
        say_problems(error)
        raise WrongUse("") from None
    if not may_start(wiring.prepared, yes=options.yes):
        return Exit.WRONG
    if options.run or not has_terminal():
        from workbench.cli.run_command import run_to_the_end

        wiring.only_given = True
        return run_to_the_end(wiring, options)
    from workbench.cli.screen import open_workbench

    wiring.breakpoints_file = BreakpointsFile(state_folder(), wiring.prepared.pipeline)
    return open_workbench(wiring, starts_servers=False, yes=options.yes)


def _summary(run: SavedRun) -> dict[str, object]:
    return {
        "file": str(run.file),
        "items": run.count,
        "visits": [
            {"visit": v.number, "step": v.step, "place": v.place_text or None, "wrote": list(v.saved)}
            for v in run.visits
        ],
        "variables": {
            variable.name: {"visit": variable.visit, "value": whole(variable.value)}
            for variable in run.variables_after(len(run.visits)).values()
        },
    }
