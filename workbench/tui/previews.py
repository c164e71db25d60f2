"""Values, sizes and times in few characters."""

from __future__ import annotations

import json
import re
from typing import Any

from msgspec import Struct

from workbench.engine.preview import beginning
from workbench.engine.values import UNSET, Message, shape
from workbench.record.memory_file import UNSET_TEXT
from workbench.tui.text import fit


class NoValue(Struct, frozen=True):
    """Stands where there is no value, and says why."""

    why: str

    def __str__(self) -> str:
        return self.why


def preview(value: Any, cells: int) -> str:
    """A value on one line. Only as much of it is looked at as fits, however large it is."""
    return fit(beginning(value, cells), cells)


def short_shape(value: Any) -> str:
    """A value's shape, large numbers rounded: ``text 2.0M``, ``list 12k``."""
    if isinstance(value, NoValue):
        return ""
    text = value.text if isinstance(value, Message) else value
    return re.sub(r"\d{5,}", lambda found: _rounded(int(found[0])), shape(text))


def _rounded(number: int) -> str:
    return f"{number / 1_000_000:.1f}M" if number >= 1_000_000 else f"{number // 1_000}k"


def full_text(value: Any) -> str:
    """A whole value as text: a text as it is, everything else as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, Message):
        return value.text
    return json.dumps(value, indent=2, ensure_ascii=False, default=_not_json)


def _not_json(value: Any) -> Any:
    return UNSET_TEXT if value is UNSET else str(value)


def duration(seconds: float) -> str:
    if seconds < 0.0995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    return f"{seconds:.0f} s" if seconds < 100 else clock_time(seconds)


def clock_time(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes:02}:{rest:02}"


def byte_size(size: int) -> str:
    if size < 1000:
        return f"{size} B"
    return f"{size / 1000:.1f} kB" if size < 1_000_000 else f"{size / 1_000_000:.1f} MB"
