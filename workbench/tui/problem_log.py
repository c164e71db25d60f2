"""Where ragwb writes down its own mistakes."""

from __future__ import annotations

import os
import time
import traceback
from pathlib import Path


def log_file() -> Path:
    """``ragwb/ragwb.log`` in the user's folder for such things."""
    state = os.environ.get("XDG_STATE_HOME")
    folder = Path(state) if state else Path.home() / ".local" / "state"
    return folder / "ragwb" / "ragwb.log"


def log_problem(error: BaseException) -> Path | None:
    """Write down an exception with its traceback; None where that is not possible."""
    file = log_file()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a", encoding="utf-8", errors="backslashreplace") as log:
            log.write(time.strftime("%Y-%m-%d %H:%M:%S\n") + "".join(traceback.format_exception(error)) + "\n")
    except OSError:
        return None
    return file
