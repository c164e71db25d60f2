"""A pipeline run by keys in the workbench: to a breakpoint, into its loop or branch, out of it, and to the end."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.support import SharedServers
from tests.tui.support import Keys, Opened, kept_mistakes, wait_less
from workbench.api.wiring import Wiring
from workbench.engine.debugger import Debugger
from workbench.engine.events import Emit, Event, ServerReady, Stopped
from workbench.engine.ports import Call, CallResult, Progress
from workbench.mcp.hub import ServerHub
from workbench.pipeline.declaration import ServerDeclaration
from workbench.pipeline.model import LoopStep, Step, ToolStep
from workbench.pipeline.prepare import Prepared
from workbench.tui.app import WorkbenchApp
from workbench.tui.looks import looks_of
from workbench.tui.step_pane import TABS

PANES = ("Pipeline", "Step", "Variables", "Timeline", "Traffic", "Snapshots")
SECONDS = 60
"""How long a run may take from one stop to the next."""


class Ear:
    """Hears what the servers of a hub tell, for the session that has them now."""

    def __init__(self) -> None:
        self.emit: Emit = _nobody
        self.ready: dict[str, ServerReady] = {}

    def __call__(self, event: Event) -> None:
        if isinstance(event, ServerReady):
            self.ready[event.server] = event
        self.emit(event)


class LentToTheEngine(SharedServers):
    """The servers of a hub on this loop, lent to an engine that has a thread and a loop of its own."""

    def __init__(self, hub: ServerHub, ear: Ear, home: asyncio.AbstractEventLoop, emit: Emit) -> None:
        super().__init__(hub)
        self._ear, self._home, self._emit = ear, home, emit

    def start(self, aliases: Iterable[str]) -> None:
        engine = asyncio.get_running_loop()

        def hear(event: Event) -> None:
            engine.call_soon_threadsafe(self._emit, event)

        self._ear.emit = hear
        for alias in aliases:
            if alias in self._ear.ready:
                self._emit(self._ear.ready[alias])
        self._home.call_soon_threadsafe(self.hub.start, tuple(aliases))

    async def declaration(self, alias: str) -> ServerDeclaration:
        asked = asyncio.run_coroutine_threadsafe(self.hub.declaration(alias), self._home)
        return await asyncio.wrap_future(asked)

    async def call(self, call: Call) -> CallResult:
        engine, told = asyncio.get_running_loop(), call.on_progress

        def tell(progress: Progress) -> None:
            if told is not None:
                engine.call_soon_threadsafe(told, progress)

        called = asyncio.run_coroutine_threadsafe(self.hub.call(replace(call, on_progress=tell)), self._home)
        return await asyncio.wrap_future(called)

    async def close(self) -> None:
        self._ear.emit = _nobody


def _nobody(event: Event) -> None:
    """Hears what is told while no session has the servers."""


async def run_in_the_workbench(
    prepared: Prepared, hub: ServerHub, ear: Ear, folder: Path, size: tuple[int, int]
) -> Debugger:
    """Run it to its end as a user would, and look at every pane on the way; returns the debugger, which is closed."""
    home = asyncio.get_running_loop()
    wiring = Wiring(prepared, folder=folder, tools=lambda emit: LentToTheEngine(hub, ear, home, emit))
    opened = Opened(WorkbenchApp(prepared, wiring.debugger), tools=None)  # type: ignore[arg-type]
    with pytest.MonkeyPatch.context() as patch:
        wait_less(patch)
        mistakes = kept_mistakes(patch)
        async with opened.running(size, SECONDS) as keys:
            user = _User(opened, keys)
            await user.goes_to_a_breakpoint()
            await user.goes_in_and_out()
            await user.goes_to_the_end()
    assert mistakes == []
    return opened.debugger


class _User:
    """Presses keys, and looks whether the screen shows what is so, and no mistake."""

    def __init__(self, opened: Opened, keys: Keys) -> None:
        self.app, self.screen, self.keys, self.debugger = opened.app, opened.screen, keys, opened.debugger
        self.steps = self.debugger.prepared.pipeline.steps
        blocks = [place for place, step in enumerate(self.steps) if not isinstance(step, ToolStep)]
        self.target = blocks[0] if blocks else len(self.steps) - 1

    @property
    def stands_at(self) -> str:
        """A step's path; at the end nothing."""
        return self.debugger.state.place.step or ""

    @property
    def stop(self) -> Stopped:
        assert self.debugger.state.stop is not None
        return self.debugger.state.stop

    # ---- the run

    async def goes_to_a_breakpoint(self) -> None:
        """Before the loop or branch, else before the last step; a pipeline of one step stands there as it is."""
        await self.keys.press_at_once(*["down"] * self.target)
        await self.keys.press("b")
        if self.target:
            await self.keys.press("c")
            assert self.stop.reason == "breakpoint"
        assert self.stands_at == self.steps[self.target].path
        await self.looks_around()
        await self.keys.press("1", "b")  # a breakpoint at a loop would stop the run in each round

    async def goes_in_and_out(self) -> None:
        """Step into blocks as deep as they go, and out of each again."""
        if isinstance(self.steps[self.target], ToolStep):
            return
        deepest = max(path.count(".") for path in self.debugger.program.steps)
        while self.stands_at.count(".") < deepest or ".router." in self.stands_at:
            await self.keys.press("s")
            assert self.stop.reason == "step"
        await self.looks_around()
        while "." in self.stands_at:
            depth = self.debugger.state.cursor.depth
            await self.keys.press("o")
            assert self.debugger.state.cursor.depth < depth

    async def goes_to_the_end(self) -> None:
        if self.debugger.state.status != "finished":
            await self.keys.press("c")
        assert self.stop.reason == "finished", self.stop.why
        assert "  finished" in self.keys.text().splitlines()[0]
        await self.looks_around()
        await self.sees_all_that_ran()

    # ---- the screen

    async def looks_around(self) -> None:
        """Bring each pane to the front, and of the step pane each tab."""
        for number, name in enumerate(PANES, 1):
            await self.keys.press(str(number))
            assert f"┏━ {name} " in self.keys.text()
            self.sees_no_mistake()
        await self.keys.press("2")
        for _ in TABS:
            await self.keys.press("full_stop")
            self.sees_no_mistake()

    def sees_no_mistake(self) -> None:
        """No notice, and nothing in the look of mistakes but the sign of a breakpoint."""
        assert [notice.message for notice in self.app._notifications] == []
        assert "Traceback" not in self.keys.text()
        bad, painted = looks_of(self.app)["bad"].color, chain(*self.app.screen._compositor.render_strips())
        assert {s.text.strip() for s in painted if s.style is not None and s.style.color == bad} <= {"●"}

    async def sees_all_that_ran(self) -> None:
        """Each pane has what the engine did, and no more; lines out of view count."""
        visits, pool = self.debugger.visits, self.debugger.state.pool
        tree = await self.lines("1")
        assert found(r"^.[> ][✓-] (\d+|after the run) ([\w.]+)", tree) == list(map(_in_the_tree, self.steps))
        loops = [step.path for step in self.steps if isinstance(step, LoopStep)]
        rounds = [max(visit.round[0] for visit in visits if visit.step.startswith(f"{loop}.")) for loop in loops]
        assert found(r"^.[> ][✓-] \d+ loop +(\d+)/", tree) == [str(number) for number in rounds]

        aliases = self.debugger.prepared.pipeline.used_aliases()
        names = [variable.name for variable in pool]
        assert found(r"^[▸ ] (\w+)", await self.lines("3")) == [
            *names,
            *(alias for alias in aliases if pool.parameters.get(alias)),
        ]

        ran = [(str(visit.number), visit.name) for visit in visits]
        timeline = await self.lines("4")
        assert found(r"^ *(\d+) ✓ ([\w.]+)", timeline) == ran
        assert timeline.endswith("run finished ")

        traffic = await self.lines("5")
        assert set(found(r" (\w+) is ready", traffic)) == set(aliases)
        for arrow in "→←":
            calls = found(rf"{arrow} (\w+)  (?:tools/call|prompts/get)  #\d+  visit (\d+)", traffic)
            assert calls == [(visit.alias, str(visit.number)) for visit in visits]

        snapshots = await self.lines("6")
        assert found(r"^ +(\d+) ([\w.]+)", snapshots) == ran
        saved = [name for visit in visits for name in visit.saved]
        assert found(r"^ +memory_(\w{1,18})", snapshots) == [name[:18] for name in saved]  # long ones are cut

    async def lines(self, pane: str) -> str:
        """All lines of a pane, out of view too, once it is in front."""
        await self.keys.press(pane)
        view = self.screen.rows_in_front()
        rows = map(view.row, range(view.row_count()))
        return "\n".join(
            " ".join("".join(part.text for part in side) for side in (row.left, row.right)) for row in rows
        )


def _in_the_tree(step: Step) -> tuple[str, str]:
    """A step's number and name there; one that the file does not have is given no number."""
    is_implied = isinstance(step, ToolStep) and step.is_implied
    return "after the run" if is_implied else step.path, step.name


def found(pattern: str, lines: str) -> list[Any]:
    """What of some lines is in the groups of a pattern, in order."""
    return re.findall(pattern, lines, re.MULTILINE)
