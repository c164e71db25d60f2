"""Events as JSON objects: numbered, dated, one per line."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from typing import Any

from workbench.engine.events import SCHEMA_VERSION, Event


class EventLog:
    """Puts every event into its envelope (``v``, ``seq``, ``time``, ``type``, ``session``, ``timeline``)."""

    def __init__(self, write: Callable[[dict[str, Any]], None], session: str | None = None) -> None:
        self._write = write
        self._session = session or uuid.uuid4().hex[:12]
        self._seq = 0

    def __call__(self, event: Event) -> None:
        self._seq += 1
        envelope = {
            "v": SCHEMA_VERSION,
            "seq": self._seq,
            "time": time.time(),
            "type": event.type,
            "session": self._session,
            "timeline": 1,
        }
        self._write({**envelope, **event.body()})
