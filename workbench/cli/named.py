"""A pipeline named on the command line; where its name is not its file, that is said."""

from __future__ import annotations

from pathlib import Path

from workbench.cli.report import say
from workbench.pipeline.named import named_pipeline


def found_pipeline(given: Path) -> Path:
    """The file that is meant, or what was given where that leads to no pipeline."""
    file, remark = named_pipeline(given)
    if remark:
        say(remark)
    return file
