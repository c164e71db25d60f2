"""Where a server finds and leaves files: one rule for all tools. Servers import these from the kit."""

from __future__ import annotations

import os
from pathlib import Path

from workbench.pipeline.project import shipped_folder


def project() -> Path:
    """The project folder the server works for."""
    return Path(os.environ.get("RAGWB_PROJECT") or Path.cwd())


def find_file(path: str | Path) -> Path:
    """The file or folder a tool is to read.

    An absolute path as it is; a relative one in the project folder, else among what ragwb ships. If there is
    none, the place in the project folder, so that the error names it.
    """
    given = Path(path).expanduser()
    in_project = project() / given
    if in_project.exists():
        return in_project
    shipped = shipped_folder() / given
    return shipped if shipped.exists() else in_project


def output_path(path: str | Path) -> Path:
    """The file or folder a tool is to write, with the folders above it made.

    A relative path is in the folder that ``RAGWB_OUTPUT`` names, else in the current one.
    """
    place = Path(os.environ.get("RAGWB_OUTPUT") or Path.cwd()) / Path(path).expanduser()
    place.parent.mkdir(parents=True, exist_ok=True)
    return place
