"""Files that a model is shown, and so perhaps its provider: templates, images."""

from __future__ import annotations

from pathlib import Path

from workbench.mcp.paths import outputs, project
from workbench.pipeline.project import shipped_folder


def may_be_shown(path: Path) -> bool:
    """Whether a file lies in the project, where tools write, or among what ragwb ships.

    A pipeline or data from elsewhere can't make a model be shown another file of the user's.
    """
    real = path.resolve()
    return any(real.is_relative_to(folder.resolve()) for folder in (project(), outputs(), shipped_folder()))
