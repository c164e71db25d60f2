"""What a run leaves behind: the session file while it runs, the memory file whenever it ends or stops for good."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from workbench.engine.events import Event
from workbench.engine.ports import Edit
from workbench.engine.timeline import Moment, Timeline
from workbench.record.memory_file import MemoryFile

if TYPE_CHECKING:
    from workbench.record.session_writer import SessionWriter


class RunRecord:
    """The engine's ``Recorder``. Without a session file only the memory file is left, at the end."""

    def __init__(self, memory: MemoryFile, session: SessionWriter | None = None) -> None:
        self.memory = memory
        self.session = session

    @property
    def file(self) -> Path | None:
        return self.session.path if self.session is not None else None

    async def finished(self, timeline: Timeline, moment: Moment) -> None:
        if self.session is not None:
            await self.session.finished(timeline, moment)

    async def heard(self, visit: int) -> tuple[Event, ...]:
        return await self.session.heard(visit) if self.session is not None else ()

    def told(self, event: Event) -> None:
        """Keep an event along with the rest."""
        if self.session is not None:
            self.session.told(event)

    def edited(self, edit: Edit, timeline: int) -> None:
        if self.session is not None:
            self.session.edited(edit, timeline)

    async def complete(self, timeline: Timeline) -> str | None:
        return await self.memory.write(timeline)

    async def close(self) -> None:
        if self.session is None:
            return
        await self.session.close()
        if self.session.is_empty:
            self.session.path.unlink(missing_ok=True)
