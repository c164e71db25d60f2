"""Opens the screen, and says afterwards what it left: the only place where the command meets Textual."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.api.wiring import Wiring
from workbench.cli.exits import Exit
from workbench.cli.report import say
from workbench.pipeline.prepare import Prepared
from workbench.pipeline.problems import PipelineError

if TYPE_CHECKING:
    from workbench.cases.growing import GrowingRuns
    from workbench.cases.opening import OpenedRun
    from workbench.tui.desk import GoLive


def open_workbench(wiring: Wiring, *, starts_servers: bool = True, yes: bool = False) -> int:
    """Without ``yes`` programs that come with a reload are asked about as those of the beginning were."""
    from workbench.cli.trust import strangers
    from workbench.tui.app import run_workbench

    ask_about = None if yes else strangers
    try:
        outcome = run_workbench(
            wiring.prepared,
            wiring.debugger,
            starts_servers=starts_servers,
            notes=wiring.notes,
            ask_about=ask_about,
        )
    except OSError as error:
        say(str(error))
        return Exit.WRONG
    if outcome.memory:
        say(f"memory file: {outcome.memory}")
    if outcome.is_midway and wiring.session is not None:
        say(f"to go on from there: ragwb resume {wiring.session}")
    return outcome.code


def mend(file: Path, prepare: Callable[[], Prepared], error: PipelineError) -> Prepared | None:
    """Show what is wrong with a pipeline until it is mended, or the user leaves."""
    from workbench.tui.before import run_mending

    return run_mending(file, prepare, error)


def choose(title: str, offers: Sequence[tuple[str, Path, str, Callable[[Path], str]]]) -> Path | None:
    """Offer files: of each its kind, path, date, and what looks into it."""
    from workbench.tui.before import run_choosing
    from workbench.tui.choosing import Offer

    return run_choosing(title, [Offer(*offer) for offer in offers])


def open_replay(
    runs: Sequence[OpenedRun],
    *,
    named: Mapping[str, str] | None = None,
    metric: str | None = None,
    growing: GrowingRuns | None = None,
    compares: bool = False,
    refusal: Callable[[GoLive], str | None],
) -> int | GoLive:
    """Saved runs on the screen; where the user wants to run on from one of them, from where and how."""
    from workbench.tui.app import run_replay
    from workbench.tui.desk import Desk

    return run_replay(Desk(runs, named=named, metric=metric, growing=growing, compares=compares, refusal=refusal))
