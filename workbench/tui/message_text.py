"""What there is to read of one line of traffic."""

from __future__ import annotations

import contextlib
import json
from typing import Any

from workbench.engine.events import WireMessage
from workbench.tui.traffic_log import TrafficLine

_DECODED_BYTES = 1_000_000
"""A longer message stays text: decoding it would hold up the screen."""


class JsonText(str):
    """JSON as text, which is shown with its parts told apart."""

    __slots__ = ()


def message_text(line: TrafficLine) -> tuple[str, Any]:
    """Name and content: a message indented, anything else as its event tells it."""
    event = line.event
    if not isinstance(event, WireMessage):
        return f"{line.server} {event.type}", event.body()
    way = "to" if event.way == "sent" else "from"
    if line.folded:
        return f"{len(line.folded)} messages {way} {line.server}  {line.method}", [_text(one) for one in line.folded]
    return f"message {way} {line.server}  {line.method}", _text(event)


def _text(message: WireMessage) -> str:
    text = message.line.decode("utf-8", "replace")
    if message.size <= _DECODED_BYTES:
        with contextlib.suppress(ValueError):
            return JsonText(json.dumps(json.loads(text), indent=2, ensure_ascii=False))
    return text
