"""The runs of a large file, while it is still indexed: what has come can be looked at."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from workbench.cases.large_file import LARGE, LargeFile
from workbench.cases.opening import OpenedRun, described, placed, the_pipeline
from workbench.cases.pipeline_beside import KnownPipeline
from workbench.cases.saved_run import RunUnreadable
from workbench.record.session_schema import is_session

_WAIT_SECONDS = 0.005


class GrowingRuns:
    """``runs`` gives more each time, until ``is_whole``; only then are visits matched to the pipeline's steps.

    Once there is a run, indexing waits for ``go_on``: the first picture of it is not to be kept waiting.
    """

    def __init__(self, file: Path, pipeline: Path | None = None) -> None:
        """Raises ``RunUnreadable``, and ``PipelineError`` where the named pipeline can't be read."""
        self._known: KnownPipeline | None
        self._known, self._notes = the_pipeline(file, pipeline)
        self.large = LargeFile(file)
        self.is_whole = False
        self._runs: list[OpenedRun] = []
        self._may_go_on = threading.Event()
        self._thread = threading.Thread(target=self._work, name=f"index {file.name}", daemon=True)
        self._thread.start()

    @property
    def progress(self) -> tuple[int, int]:
        """Bytes that are indexed, and bytes of the file."""
        return self.large.indexed, self.large.size

    def runs(self) -> list[OpenedRun]:
        """The runs as far as they have come."""
        if self.is_whole:
            return self._runs
        return [OpenedRun(run, self._known, described(run, self._notes)) for run in self.large.runs()]

    def first_runs(self) -> list[OpenedRun]:
        """The runs as soon as there is one. Raises ``RunUnreadable`` where the file has none."""
        while not (runs := self.runs()):
            if self.is_whole:
                raise RunUnreadable(f"{self.large.file}: {self.large.trouble or 'no saved run in it'}")
            time.sleep(_WAIT_SECONDS)
        return runs

    def go_on(self) -> None:
        self._may_go_on.set()

    def wait(self) -> None:
        """Until the file is indexed and its visits are matched."""
        self.go_on()
        self._thread.join()

    def _pace(self, indexed: int, size: int) -> None:
        if not self._may_go_on.is_set() and self.large.has_runs:
            self._may_go_on.wait()

    def _work(self) -> None:
        self.large.index(self._pace)
        self._finish()

    def _finish(self) -> None:
        runs = [placed(run, self._known) for run in self.large.runs()]
        self._runs = [OpenedRun(run, self._known, described(run, self._notes)) for run in runs]
        self.is_whole = True


def is_large(file: Path) -> bool:
    """Whether a file is indexed instead of read whole."""
    return file.is_file() and file.stat().st_size >= LARGE and not is_session(file)
