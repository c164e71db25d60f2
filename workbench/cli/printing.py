"""What goes to stdout: results, and events for machines. Its reader may be gone, and a disk may be full."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from typing import Any


def print_text(text: str) -> None:
    """Print a text; half surrogate pairs become escapes. Raises ``OSError`` where it can't be written."""
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace") + b"\n")
    sys.stdout.flush()


def print_json(value: Any, *, indent: int | None = 2) -> None:
    """Print a value as JSON that any reader takes: NaN and infinities as texts. Raises ``OSError``."""
    try:
        text = json.dumps(value, ensure_ascii=False, indent=indent, default=str, allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(value), ensure_ascii=False, indent=indent, default=str)
    print_text(text)


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, list):
        return [_finite(entry) for entry in value]
    if isinstance(value, dict):
        return {key: _finite(entry) for key, entry in value.items()}
    return value


class EventPrinter:
    """Prints events as lines of JSON; where their reader is gone, it says so once and prints no more."""

    def __init__(self, gone: Callable[[], object]) -> None:
        self.is_gone = False
        self._gone = gone

    def __call__(self, event: dict[str, Any]) -> None:
        import orjson

        if self.is_gone:
            return
        try:
            sys.stdout.buffer.write(orjson.dumps(event, default=str, option=orjson.OPT_NON_STR_KEYS) + b"\n")
            sys.stdout.flush()
        except OSError:
            self.is_gone = True
            self._gone()
