"""Where ragwb keeps what is the user's and no pipeline's: logs, breakpoints."""

from __future__ import annotations

import os
from pathlib import Path


def state_folder() -> Path:
    """``ragwb`` in the user's state folder."""
    state = os.environ.get("XDG_STATE_HOME")
    return (Path(state) if state else Path.home() / ".local" / "state") / "ragwb"


def log_file() -> Path:
    """``ragwb.log`` in the state folder, which is made."""
    folder = state_folder()
    folder.mkdir(parents=True, exist_ok=True)
    return folder / "ragwb.log"
