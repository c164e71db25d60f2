"""What there is to read of one line of traffic."""

from __future__ import annotations

import contextlib
import json
from typing import Any

from workbench.engine.events import WireMessage
from workbench.tui.traffic_log import TrafficLine

_DECODED_BYTES = 1_000_000
"""A longer message stays text: decoding it would hold up the screen."""


def message_text(line: TrafficLine) -> tuple[str, Any]:
    """Name and content: a message indented, anything else as its event tells it."""
    event = line.event
    if not isinstance(event, WireMessage):
        return f"{line.server} {event.type}", event.body()
    way = "to" if event.way == "sent" else "from"
    text = event.line.decode("utf-8", "replace")
    if event.size <= _DECODED_BYTES:
        with contextlib.suppress(ValueError):
            text = json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    return f"message {way} {line.server}  {line.method}", text
