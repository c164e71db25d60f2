"""Where ragwb keeps what belongs to the user and not to a project."""

from __future__ import annotations

import os
from pathlib import Path


def state_folder() -> Path:
    """The folder for the log and for what is trusted: ``XDG_STATE_HOME``, else the system's place for such things."""
    state = os.environ.get("XDG_STATE_HOME")
    if state:
        return Path(state) / "ragwb"
    from platformdirs import user_state_path

    return user_state_path("ragwb", appauthor=False)
