"""The lines that were entered in the console, kept from session to session."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path

from workbench.pipeline.user_folders import state_folder

KEPT_LINES = 500
_NOT_KEPT = "set "
"""What a value is set to may be a secret."""


def history_file() -> Path:
    return state_folder() / "console_history"


def read_history() -> list[str]:
    """Oldest first; none where there is no file that can be read."""
    try:
        return history_file().read_text(encoding="utf-8", errors="replace").splitlines()[-KEPT_LINES:]
    except OSError:
        return []


def keep_history(lines: Sequence[str]) -> None:
    """Write them down, for the user alone; where that is not possible the session goes on without."""
    file = history_file()
    kept = [line for line in lines if not line.startswith(_NOT_KEPT)][-KEPT_LINES:]
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(handle, "w", encoding="utf-8", errors="backslashreplace") as out:
            out.write("".join(f"{line}\n" for line in kept))
