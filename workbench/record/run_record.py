"""What a run leaves behind: the session file while it runs, the memory file whenever it ends or stops for good."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from workbench.engine.events import Event
from workbench.engine.ports import Edit
from workbench.engine.timeline import Moment, Timeline
from workbench.pipeline.prepare import Prepared
from workbench.record.memory_file import MemoryFile
from workbench.record.redaction import Redactor

if TYPE_CHECKING:
    from workbench.record.session_writer import SessionWriter


NOT_KEPT = "typed by hand, and not kept: it is secret"
"""The origin of a parameter whose value is not in the session file: only its mask is."""


class RunRecord:
    """The engine's ``Recorder``. Without a session file only the memory file is left, at the end."""

    def __init__(
        self,
        memory: MemoryFile,
        session: SessionWriter | None = None,
        *,
        redactor: Redactor | None = None,
        follow: Callable[[Prepared], None] = lambda prepared: None,
    ) -> None:
        """``follow`` hears of the pipeline whenever it was read anew."""
        self.memory = memory
        self.session = session
        self.follow = follow
        self.redactor = redactor or Redactor()

    @property
    def file(self) -> Path | None:
        return self.session.path if self.session is not None else None

    async def finished(self, timeline: Timeline, moment: Moment) -> None:
        if self.session is None:
            return
        if moment.before.edits:
            edits = tuple(self._masked(edit) for edit in moment.before.edits)
            moment = replace(moment, before=replace(moment.before, edits=edits))
        await self.session.finished(timeline, moment)

    async def heard(self, visit: int | None) -> tuple[Event, ...]:
        return await self.session.heard(visit) if self.session is not None else ()

    async def reloaded(self, prepared: Prepared) -> None:
        self.redactor.follow(prepared.parameters, prepared.secrets)
        if self.session is not None:
            from workbench.record.pipeline_then import PipelineThen

            await self.session.reloaded(PipelineThen.of(prepared, self.redactor))
        self.follow(prepared)

    def told(self, event: Event) -> None:
        """Keep an event along with the rest."""
        if self.session is not None:
            self.session.told(event)

    def edited(self, edit: Edit, timeline: Timeline) -> None:
        self.redactor.learn_edit(edit)
        if self.session is not None:
            self.session.edited(self._masked(edit), timeline)

    def went_to(self, timeline: Timeline) -> None:
        if self.session is not None:
            self.session.went_to(timeline)

    def _masked(self, edit: Edit) -> Edit:
        """An edit as it is written: of a secret typed by hand only the mask is, and it says so."""
        if edit.what != "parameter" or edit.origin is not None:
            return edit
        value = self.redactor.value(edit.value)
        return edit if value == edit.value else replace(edit, value=value, origin=NOT_KEPT)

    async def complete(self, timeline: Timeline) -> str | None:
        return await self.memory.write(timeline)

    async def close(self) -> None:
        if self.session is None:
            return
        await self.session.close()
        if self.session.is_empty:
            self.session.path.unlink(missing_ok=True)
