"""Whose memory it is: the folder of each user."""

from __future__ import annotations

from pathlib import Path

from workbench.mcp.kit import output_path
from workbench.mcp.paths import user_name


def user_folder(memory_folder: str, user_id: str) -> Path:
    """The folder of a user, made if it is not there. Raises ``ToolError`` for an id that could lead elsewhere."""
    folder = Path(output_path(Path(memory_folder) / user_name(user_id)))
    folder.mkdir(parents=True, exist_ok=True)
    return folder
