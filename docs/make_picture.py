"""Makes the pictures of the README with the app itself: `uv run python docs/make_picture.py`."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

import workbench
from workbench.api.wiring import Wiring
from workbench.cases.opening import open_runs
from workbench.engine.breakpoints import Breakpoint
from workbench.pipeline.prepare import prepare
from workbench.tui.app import Outcome, ReplayApp, WorkbenchApp
from workbench.tui.desk import Desk

DOCS = Path(__file__).parent
PIPELINES = DOCS.parent / "pipelines"
SIZE = (160, 45)


async def stopped(pilot: Pilot[Outcome], app: WorkbenchApp) -> None:
    while app.engine.debugger.state.status in ("starting", "running"):
        await pilot.pause(0.2)
    await pilot.pause(0.5)


async def picture_of_the_workbench() -> None:
    prepared = prepare(PIPELINES / "rag_branch.yaml")
    breakpoints = [Breakpoint("7.1.continue.2", "round == 2")]
    app = WorkbenchApp(prepared, Wiring(prepared, breaks=breakpoints).debugger)
    async with app.run_test(size=SIZE) as pilot:
        await stopped(pilot, app)
        await pilot.press("c")
        await stopped(pilot, app)
        await pilot.press("full_stop", "full_stop")
        await stopped(pilot, app)
        (DOCS / "workbench.svg").write_text(app.export_screenshot(title="ragwb pipelines/rag_branch.yaml"))
        await pilot.press("q")


async def picture_of_the_items() -> None:
    """The items of a run of `rag.yaml`, the cursor on one whose gold the search missed."""
    pipeline = PIPELINES / "rag.yaml"
    with tempfile.TemporaryDirectory() as folder:
        async with workbench.open(pipeline, folder=folder) as debugger:
            await debugger.run("continue")
            memory = debugger.state.memory
        assert memory is not None
        app: ReplayApp = ReplayApp(Desk(open_runs(Path(memory), pipeline)))
        async with app.run_test(size=SIZE) as pilot:
            await pilot.press("T")
            await worked_out(pilot)
            rows = app._desk.studied.shown
            missed = next(n for n, row in enumerate(rows) if row.verdict and row.verdict.stage == "retrieval")
            await pilot.press(*["down"] * missed)
            await pilot.pause(0.5)
            (DOCS / "items.svg").write_text(app.export_screenshot(title="ragwb replay output/memory_rag.json"))
            await pilot.press("q")


async def worked_out(pilot: Pilot[Any]) -> None:
    while any(not worker.is_finished for worker in pilot.app.workers):
        await pilot.pause(0.2)


async def main() -> None:
    await picture_of_the_workbench()
    await picture_of_the_items()


if __name__ == "__main__":
    asyncio.run(main())
