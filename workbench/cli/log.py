"""Where ragwb keeps its log file: tracebacks that a user never sees."""

from __future__ import annotations

import os
from pathlib import Path


def log_file() -> Path:
    """``ragwb/ragwb.log`` in the user's state folder; the folder is made."""
    state = os.environ.get("XDG_STATE_HOME")
    folder = (Path(state) if state else Path.home() / ".local" / "state") / "ragwb"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / "ragwb.log"
