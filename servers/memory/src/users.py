"""Whose memory it is: the folder of each user."""

from __future__ import annotations

from pathlib import Path

from fastmcp.exceptions import ToolError

from workbench.mcp.kit import output_path
from workbench.mcp.paths import user_name


def user_folder(memory_folder: str, user_id: str) -> Path:
    """The folder of a user, made if it is not there. Raises ``ToolError`` for an id that could lead elsewhere."""
    name = user_name(user_id)
    try:
        folder = Path(output_path(Path(memory_folder) / name))
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise ToolError(f"memory.memory_folder {memory_folder!r}: no folder can be made there ({error})") from error
    return folder
