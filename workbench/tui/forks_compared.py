"""Two timelines of the session that is open, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.engine.debugger import Debugger
from workbench.tui.pane_screen import PaneScreen

if TYPE_CHECKING:
    from workbench.tui.studying import Studied


def compare_timelines(screen: PaneScreen, debugger: Debugger, number: int) -> None:
    """Lay a timeline (A) and the present one (B) side by side; from there an item is gone back to with it pinned."""
    from workbench.tui.compare_screen import CompareScreen
    from workbench.tui.desk import Desk

    sides = [_studied(debugger, one) for one in (number, debugger.timeline.number)]
    desk = Desk([side.opened for side in sides])
    desk.walk = lambda item, visit: screen.pin(item)
    screen.app.push_screen(CompareScreen(desk, *desk.studies))


def _studied(debugger: Debugger, number: int) -> Studied:
    from workbench.cases.opening import OpenedRun
    from workbench.cases.pipeline_beside import KnownPipeline
    from workbench.cases.session_run import run_of_timeline
    from workbench.tui.studying import Studied

    prepared, bindings = debugger.prepared, debugger.bindings.known
    known = KnownPipeline(prepared.pipeline, prepared.project, bindings, prepared.parameters, prepared.secrets)
    file = debugger.file or prepared.pipeline.file
    return Studied(OpenedRun(run_of_timeline(file, debugger.timelines[number], bindings), known))
