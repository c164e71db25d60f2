"""Whose memory it is: user ids that are safe as folder names, and the folder of each."""

from __future__ import annotations

import re
from pathlib import Path

from fastmcp.exceptions import ToolError

from workbench.mcp.kit import output_path

_USER = re.compile(r"[A-Za-z0-9_-]{1,128}")


def user_folder(memory_folder: str, user_id: str) -> Path:
    """The folder of a user, made if it is not there. Raises ``ToolError`` for an id that could lead elsewhere."""
    if not _USER.fullmatch(user_id):
        raise ToolError(
            f"{user_id[:40]!r} is no user id: it names a folder, so 1 to 128 letters from A to Z, digits, _ and -"
        )
    folder = Path(output_path(Path(memory_folder) / user_id))
    folder.mkdir(parents=True, exist_ok=True)
    return folder
