"""The apps that come before the workbench: one to choose a file in, one to mend a pipeline with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from workbench.pipeline.config import load_config
from workbench.pipeline.prepare import Prepared
from workbench.pipeline.problems import PipelineError
from workbench.pipeline.project import project_folder
from workbench.tui.app import ThemedApp
from workbench.tui.choosing import ChoosingScreen, Offer
from workbench.tui.mending import MendingScreen, Prepare


class MendingApp(ThemedApp):
    """Ends with the pipeline as soon as it can be run."""

    def __init__(self, file: Path, prepare: Prepare, error: PipelineError) -> None:
        super().__init__(load_config(project_folder(file))[0])
        self._first = MendingScreen(file.name, prepare, error)

    def get_default_screen(self) -> MendingScreen:
        return self._first


class ChoosingApp(ThemedApp):
    """Ends with the file that was chosen."""

    def __init__(self, title: str, offers: Sequence[Offer]) -> None:
        super().__init__(load_config(Path())[0])
        self._first = ChoosingScreen(title, offers)

    def get_default_screen(self) -> ChoosingScreen:
        return self._first


def run_mending(file: Path, prepare: Prepare, error: PipelineError) -> Prepared | None:
    """None where the user left before it was mended."""
    prepared = MendingApp(file, prepare, error).run()
    return prepared if isinstance(prepared, Prepared) else None


def run_choosing(title: str, offers: Sequence[Offer]) -> Path | None:
    """None where nothing was chosen."""
    file = ChoosingApp(title, offers).run()
    return file if isinstance(file, Path) else None
