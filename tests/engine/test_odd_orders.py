"""Running, going back, editing, saving the file, reloading and resuming, in orders that nobody thinks of."""

from __future__ import annotations

import contextlib
import random
from pathlib import Path
from typing import Any

import pytest

from tests.engine.test_changed_pipeline import edited
from tests.engine.test_earlier_pipelines import everything
from tests.engine.test_time_travel import HEAD, SHAPES, opened, project
from tests.support import Session
from workbench.engine.debugger import Debugger
from workbench.engine.state import CommandRefused
from workbench.mcp.hub import ServerHub

__all__ = ["project"]

LOOP, BRANCHES = SHAPES["loop"], SHAPES["nested branch"]
IDLE = HEAD + (
    "- loop: {times: 3, steps: [{branch: {router: [lab.route_done], branches: {more: [lab.extend], done: []}}}, "
    "lab.tag]}\n- lab.search\n"
)
FAMILIES = {
    "loop": [
        LOOP,
        LOOP.replace("lab.tag]", "lab.tag, lab.count]"),
        LOOP + "- lab.count\n",
        LOOP.replace("times: 3", "times: 4"),
        LOOP.replace("times: 3", "times: 1"),
        LOOP.replace("- lab.search\n", ""),
    ],
    "branches": [
        BRANCHES,
        BRANCHES.replace("times: 2", "times: 3"),
        BRANCHES.replace("short: [lab.tag]", "short: []"),
        BRANCHES.replace("consonant: [lab.extend, lab.tag]", "consonant: [lab.extend]"),
        BRANCHES + "- lab.extend\n",
    ],
    "idle": [
        IDLE,
        IDLE.replace("times: 3", "times: 5"),
        IDLE.replace(", lab.tag]", "]"),
        IDLE.replace("more: [lab.extend]", "more: [lab.extend, lab.extend]"),
    ],
}
"""Of each pipeline, what is saved in its place."""
COMMANDS = ("into", "over", "continue", "reload", "reload", "back", "forth", "go", "end", "switch", "edit", "resume")


def values(debugger: Debugger) -> dict[str, Any]:
    return {name: variable.value for name, variable in debugger.state.pool.variables.items()}


def timelines(debugger: Debugger) -> dict[int, Any]:
    return {n: (parent, left, visits, pool) for n, (parent, left, visits, _, pool) in everything(debugger).items()}


async def steered(command: str, debugger: Debugger, random_: random.Random) -> None:
    match command:
        case "into" | "over" | "continue":
            await debugger.run(command)  # type: ignore[arg-type]
        case "back":
            await debugger.step_back()
        case "forth":
            await debugger.step_forth()
        case "go":
            await debugger.go_to(random_.choice(debugger.timeline.visits).number)
        case "end":
            await debugger.go_to_end()
        case "switch":
            await debugger.switch_to(random_.choice(list(debugger.timelines)))
        case "edit":
            debugger.edit_variable("q_ls", random_.choice(["a", "long enough"]), 0)
            debugger.edit_parameter("lab", "top_k", random_.randint(1, 4))


async def reloaded(session: Session, project: Path, text: str) -> None:
    debugger, was_past = session.debugger, session.debugger.state.is_past
    before = debugger.state.position
    prepared = edited(project, text)
    kept, cut = debugger.reloading(prepared)
    await debugger.reload(prepared)
    assert debugger.state.position == kept
    assert (cut is not None) == (kept < before)
    assert kept <= before or not was_past


@pytest.mark.parametrize("edits", [True, False])
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("family", FAMILIES)
async def test_odd_orders(project: Path, lab_servers: ServerHub, family: str, seed: int, edits: bool) -> None:
    random_ = random.Random(f"{family} {seed}")
    texts = FAMILIES[family]
    text = texts[0]
    session = await opened(project, lab_servers, text, keeps=True)
    await session.debugger.run("over")
    for _ in range(40):
        command = random_.choice([c for c in COMMANDS if edits or c != "edit"])
        debugger = session.debugger
        if command == "reload":
            text = random_.choice(texts)
            await reloaded(session, project, text)
        elif command == "resume":
            before = timelines(debugger)
            session = await session.resumed(debugger.prepared)
            assert timelines(session.debugger) == before
        else:
            with contextlib.suppress(CommandRefused, IndexError):
                await steered(command, debugger, random_)
        for timeline in session.debugger.timelines.values():
            ran = [moment.visit.number for moment in timeline.ran]
            assert ran == sorted(set(ran))
            assert [visit.number for visit in timeline.visits] == ran[: len(timeline.moments)]
    await session.debugger.go_to_end()
    with contextlib.suppress(CommandRefused):
        await session.debugger.run("continue")
    straight = await opened(project, lab_servers, text)
    await straight.debugger.run("continue")
    assert edits or values(session.debugger) == values(straight.debugger)
    await session.debugger.close()
