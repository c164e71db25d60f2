"""Events as JSON objects: numbered, dated, one per line."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from workbench.engine.events import SCHEMA_VERSION, Event


class Envelope(Struct, frozen=True):
    """What every event has besides its own fields."""

    v: int
    """The version of this schema; new types and fields don't change it."""
    seq: int
    """Counts the events of one command from 1, without a gap."""
    time: float
    """When it was told (Unix seconds)."""
    type: str
    """Which event it is."""
    session: str
    """The session: the name of its file in `sessions/` without the ending; a random one without a file."""
    timeline: int
    """The timeline that it belongs to; a run from the past belongs to the fork that it begins."""


class EventLog:
    """Puts every event into its envelope. ``session`` and ``timeline`` are asked for with each event."""

    def __init__(
        self,
        write: Callable[[dict[str, Any]], None],
        *,
        session: Callable[[], str | None] = lambda: None,
        timeline: Callable[[], int] = lambda: 1,
    ) -> None:
        self._write = write
        self._session = session
        self._timeline = timeline
        self._nameless = uuid.uuid4().hex[:12]
        self._seq = 0

    def __call__(self, event: Event) -> None:
        self._seq += 1
        session = self._session() or self._nameless
        envelope = Envelope(SCHEMA_VERSION, self._seq, time.time(), event.type, session, self._timeline())
        self._write({**asdict(envelope), **event.body()})
