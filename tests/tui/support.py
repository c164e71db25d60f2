"""Driving an app in a test: press keys, and wait until the engine has done what they ask."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from textual.events import Key
from textual.keys import _character_to_key
from textual.pilot import Pilot

from tests.tui.fakes import FakeTools
from workbench.engine.debugger import Debugger
from workbench.tui.app import WorkbenchApp
from workbench.tui.bridge import EngineThread
from workbench.tui.net import SafeApp
from workbench.tui.workbench_screen import WorkbenchScreen

LOOP = """\
pipeline:
- lab.get_items
- loop:
    times: 5
    steps:
    - branch:
        router:
        - lab.route_done
        branches:
          more:
          - lab.extend
          done: []
- lab.search
"""

RAG = """\
pipeline:
- lab.get_items
- lab.search
- lab.ask
- lab.generate
"""


@dataclass
class Opened:
    """An app and the tools behind it."""

    app: WorkbenchApp
    tools: FakeTools

    @property
    def debugger(self) -> Debugger:
        return self.app.engine.debugger

    @property
    def screen(self) -> WorkbenchScreen:
        screen = self.app.screen_stack[0]
        assert isinstance(screen, WorkbenchScreen)
        return screen

    @property
    def was_started(self) -> bool:
        return self.app.engine._thread.is_alive()

    @asynccontextmanager
    async def running(self, size: tuple[int, int] = (160, 45), patience: float = 5) -> AsyncIterator[Keys]:
        """Show it; the servers are up when this begins, and it is closed when it ends."""
        async with self.app.run_test(size=size, notifications=True) as pilot:
            keys = Keys(self, pilot, patience)
            try:
                await keys.settle()
                yield keys
            finally:
                await self.app.engine.close(3)


@dataclass
class Keys:
    """The keyboard of a test. ``patience`` is how many seconds anything may take that a key asks for."""

    opened: Opened
    pilot: Pilot[Any]
    patience: float = 5

    async def press(self, *keys: str) -> None:
        """Press keys one by one, each when what the one before asked for has come to its end."""
        for key in keys:
            await self.pilot.press(key)
            await self.settle()

    async def burst(self, text: str) -> None:
        """Type characters as a slow line brings them: all of them are there before the first has had its effect."""
        for character in text:
            key = "escape" if character == "\x1b" else _character_to_key(character)
            self.opened.app.post_message(Key(key, character))
        await self.settle()

    async def press_at_once(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def settle(self) -> None:
        """Wait until the engine stands still and the screen has heard of it."""
        engine = self.opened.app.engine
        await self.pilot.pause()
        await self.until(lambda: self.opened.was_started or engine.debugger.state.status == "closed")
        if self.opened.was_started:
            await _heard(engine)
            await self.until(lambda: engine.debugger.state.status not in ("running", "starting"))
            await _heard(engine)
        await self.pilot.pause()
        await self.until(lambda: not engine._told and not engine._is_notified)
        await self.pilot.pause()
        await self.until(
            lambda: not any(w.group.startswith("looking") and not w.is_finished for w in self.opened.app.workers)
        )
        await self.pilot.pause()

    async def until(self, holds: Any, seconds: float | None = None) -> None:
        async with asyncio.timeout(seconds or self.patience):
            while not holds():
                await self.pilot.pause(0.005)

    def text(self) -> str:
        """What is on the screen."""
        lines = self.opened.app.screen._compositor.render_strips()
        return "\n".join(strip.text for strip in lines)


def wait_less(patch: pytest.MonkeyPatch) -> None:
    """The pilot waits for an idle processor: 60 ms a key."""
    for module in ("textual.app", "textual.pilot"):
        patch.setattr(f"{module}.wait_for_idle", _let_others_run)


async def _let_others_run(*_: float) -> None:
    await asyncio.sleep(0.001)


def kept_mistakes(patch: pytest.MonkeyPatch) -> list[BaseException]:
    """What the net under the screen catches from now on."""
    made: list[BaseException] = []
    catch = SafeApp.mistake

    def keep(app: SafeApp[Any], error: BaseException) -> None:
        made.append(error)
        catch(app, error)

    patch.setattr(SafeApp, "mistake", keep)
    return made


async def _heard(engine: EngineThread) -> None:
    """Wait until the engine's loop has begun all that it was asked for."""
    await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(asyncio.sleep(0), engine._loop))
