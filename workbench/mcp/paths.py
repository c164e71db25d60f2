"""Where a server finds and leaves files: one rule for all tools. Servers import these from the kit."""

from __future__ import annotations

import os
import re
from pathlib import Path

from fastmcp.exceptions import ToolError

from workbench.pipeline.project import shipped_folder

OUTPUT = "output"
_USER = re.compile(r"[A-Za-z0-9_-]{1,128}")


def project() -> Path:
    """The project folder the server works for."""
    return Path(os.environ.get("RAGWB_PROJECT") or Path.cwd())


def outputs() -> Path:
    """The folder in which ragwb was called: what tools write goes there, as the memory files do."""
    return Path(os.environ.get("RAGWB_OUTPUT") or Path.cwd())


def find_file(path: str | Path) -> Path:
    """The file or folder a tool is to read.

    An absolute path as it is; a relative one in the project folder, else in that in which ragwb was called, else among
    what ragwb ships. The folder of the call comes first for a shipped pipeline, whose project is ragwb's own, and for
    the folder ``output``: that was written by a tool, and an older one of the project would take its place. If there is
    none, the first of these places, so that the error names it.
    """
    given, shipped = Path(path).expanduser(), shipped_folder()
    called_first = given.parts[:1] == (OUTPUT,) or project().resolve() == shipped.resolve()
    folders = (outputs(), project(), shipped) if called_first else (project(), outputs(), shipped)
    places = [folder / given for folder in folders]
    return next((place for place in places if place.exists()), places[0])


def output_path(path: str | Path) -> Path:
    """The file or folder a tool is to write, with the folders above it made.

    A relative path is in the folder in which ragwb was called.
    """
    place = outputs() / Path(path).expanduser()
    place.parent.mkdir(parents=True, exist_ok=True)
    return place


def user_name(user_id: str) -> str:
    """The id of a user, if it can name a folder. Raises ``ToolError`` for one that could lead elsewhere."""
    if not _USER.fullmatch(user_id):
        raise ToolError(
            f"{user_id[:40]!r} is no user id: it names a folder, so 1 to 128 letters from A to Z, digits, _ and -"
        )
    return user_id
