"""Files that are saved in an editor while the screen is open: noticed, shown, and read anew when the user says so."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from workbench.pipeline.prepare import Prepared
from workbench.pipeline.problems import PipelineError
from workbench.pipeline.watching import PipelineWatch, Saved
from workbench.tui.action_screen import ActionScreen
from workbench.tui.bridge import EngineThread
from workbench.tui.model import Model
from workbench.tui.reload_dialog import MistakesDialog, ReloadDialog, Strangers, rows_of, what_stays

LOOK_SECONDS = 1.0

AskAbout = Callable[[Prepared], Strangers | None]
"""Which programs of a pipeline have to be asked about before they start."""


class Reloading:
    """Looks after the files of the pipeline on screen. Disks may be slow: all of it is done on other threads."""

    def __init__(
        self, screen: ActionScreen[None], engine: EngineThread, model: Model, ask_about: AskAbout | None = None
    ) -> None:
        self._screen = screen
        self._engine = engine
        self._model = model
        self._ask_about = ask_about or (lambda prepared: None)
        self._watch: PipelineWatch | None = None
        self._is_looking = False
        self._is_asking = False

    async def look(self) -> None:
        """See whether something was saved; the status line then says so."""
        if self._is_looking:
            return
        self._is_looking = True
        try:
            if self._watch is None:
                self._watch = await asyncio.to_thread(PipelineWatch, self._engine.debugger.prepared)
            files = await asyncio.to_thread(self._watch.changed)
            self._model.saved_files = tuple(file.name for file in files)
        finally:
            self._is_looking = False

    async def ask(self) -> None:
        """Show what saving changed, and reload it if the user wants that."""
        if self._is_asking:
            return
        self._is_asking = True
        try:
            await self._ask()
        finally:
            self._is_asking = False

    async def _ask(self) -> None:
        if self._watch is None or not self._model.saved_files:
            self._screen.say("nothing was saved since the pipeline was read")
            return
        if self._engine.debugger.state.status == "running":
            self._screen.say("a step is running: what was saved can be reloaded when it has stopped")
            return
        title = f"Saved: {', '.join(self._model.saved_files)}"
        try:
            saved = await asyncio.to_thread(self._watch.read)
        except PipelineError as error:
            self._screen.app.push_screen(MistakesDialog(error.problems))
            return
        strangers = await asyncio.to_thread(self._ask_about, saved.prepared)
        # Fitting thousands of visits takes its time: that is for the engine's thread.
        kept, cut = await self._engine.call(self._engine.debugger.reloading, saved.prepared)
        rows = [*rows_of(saved), *what_stays(kept, cut, self._engine.debugger.state.position)]
        answer = await self._screen.app.push_screen_wait(ReloadDialog(title, rows, strangers))
        if answer is None:
            return
        if strangers is not None:
            await self._allow(strangers, always=answer == "always")
        await self._reload(saved, self._watch)

    async def _allow(self, strangers: Strangers, *, always: bool) -> None:
        try:
            await asyncio.to_thread(lambda: strangers.allow(always=always))
        except OSError as error:
            self._screen.say(f"this can't be remembered, and will be asked again: {error}", is_error=True)

    async def _reload(self, saved: Saved, watch: PipelineWatch) -> None:
        try:
            await self._engine.call(self._engine.debugger.reload, saved.prepared, saved.servers)
        except Exception as error:
            self._screen.say(str(error), is_error=True)
            return
        await asyncio.to_thread(watch.follow, saved)
        self._model.saved_files = ()
        await self.look()
