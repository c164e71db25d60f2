"""Where ragwb writes down its own mistakes."""

from __future__ import annotations

import time
import traceback
from pathlib import Path

from workbench.pipeline.user_folders import state_folder


def log_file() -> Path:
    """``ragwb.log`` in the user's folder for such things."""
    return state_folder() / "ragwb.log"


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
