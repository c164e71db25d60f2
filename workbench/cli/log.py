"""Where ragwb keeps its log file: tracebacks that a user never sees."""

from __future__ import annotations

from pathlib import Path

from workbench.pipeline.user_folders import state_folder


def log_file() -> Path:
    """``ragwb.log`` in the user's state folder; the folder is made."""
    folder = state_folder()
    folder.mkdir(parents=True, exist_ok=True)
    return folder / "ragwb.log"
