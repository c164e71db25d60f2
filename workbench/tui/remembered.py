"""What the screen remembers from one time to the next: the theme, the layout, that it has been explained."""

from __future__ import annotations

import contextlib
import json
import os
import threading
from pathlib import Path
from typing import Any

from workbench.pipeline.user_folders import state_folder

FILE = "screen.json"
_writing = threading.Lock()


def remembered(name: str) -> Any:
    """What was kept under a name; None where nothing was, or it can't be read."""
    return _read(state_folder() / FILE).get(name)


def remember(name: str, value: Any) -> None:
    """Keep a value of JSON. That it can't be kept is no reason to trouble anyone."""
    file = state_folder() / FILE
    with _writing, contextlib.suppress(OSError):
        text = json.dumps({**_read(file), name: value}, indent=1)
        file.parent.mkdir(parents=True, exist_ok=True)
        beside = file.with_name(f"{FILE}.{os.getpid()}")
        beside.write_text(text, encoding="utf-8")
        beside.replace(file)


def _read(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
