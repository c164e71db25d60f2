"""Makes the picture of the README with the app itself: `uv run python docs/make_picture.py`."""

from __future__ import annotations

import asyncio
from pathlib import Path

from textual.pilot import Pilot

from workbench.api.wiring import Wiring
from workbench.engine.breakpoints import Breakpoint
from workbench.pipeline.prepare import prepare
from workbench.tui.app import Outcome, WorkbenchApp

DOCS = Path(__file__).parent
PIPELINE = DOCS.parent / "pipelines" / "rag_branch.yaml"


async def stopped(pilot: Pilot[Outcome], app: WorkbenchApp) -> None:
    while app.engine.debugger.state.status in ("starting", "running"):
        await pilot.pause(0.2)
    await pilot.pause(0.5)


async def main() -> None:
    prepared = prepare(PIPELINE)
    breakpoints = [Breakpoint("5.3.continue.2", "round == 2")]
    app = WorkbenchApp(prepared, Wiring(prepared, breaks=breakpoints).debugger)
    async with app.run_test(size=(160, 45)) as pilot:
        await stopped(pilot, app)
        await pilot.press("c")
        await stopped(pilot, app)
        await pilot.press("full_stop", "full_stop")
        await stopped(pilot, app)
        (DOCS / "workbench.svg").write_text(app.export_screenshot(title="ragwb pipelines/rag_branch.yaml"))
        await pilot.press("q")


if __name__ == "__main__":
    asyncio.run(main())
