"""What a session looks like from outside at one moment."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from workbench.engine.cursor import Cursor, Place
from workbench.engine.events import Stopped
from workbench.engine.pool import VariablePool
from workbench.engine.visit import Visit

Status = Literal["starting", "stopped", "running", "finished", "closed"]
Outcome = Literal["finished", "failed", "stopped", "interrupted"]
Command = Literal["over", "into", "out", "continue"]
StopReason = Literal["entry", "step", "breakpoint", "pause", "failed", "cancelled", "went back", "reloaded", "finished"]


class State(Struct, frozen=True):
    """All of a session at one moment, replaced as a whole: a reader on another thread never sees half of one.

    ``position`` is the number of visits of the timeline that lie before the cursor; ``length`` is how many it has.
    """

    status: Status
    cursor: Cursor
    pool: VariablePool
    place: Place
    stop: Stopped | None = None
    running: Visit | None = None
    memory: str | None = None
    timeline: int = 1
    position: int = 0
    length: int = 0

    @property
    def is_past(self) -> bool:
        """Whether there are visits after the cursor: running on from here begins a fork."""
        return self.position < self.length


class CommandRefused(Exception):
    """A command that can't be carried out now; ``str()`` says why."""


REFUSALS: dict[Status, str] = {
    "starting": "the session is still starting",
    "running": "a step is running: pause or cancel it first",
    "finished": "the pipeline has run to its end: go back, or restart it",
    "closed": "the session is closed",
}
