"""What lies on the desk of somebody who studies saved runs: the runs that were opened, and which is looked at."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from workbench.cases.growing import GrowingRuns
from workbench.cases.opening import OpenedRun
from workbench.cases.saved_run import SavedRun
from workbench.engine.recording import Answers
from workbench.tui.studying import Studied


class GoLive(Struct, frozen=True):
    """The user wants to run on from before a visit of a run: visit number, and how steps from there are answered."""

    opened: OpenedRun
    visit: int
    answers: Answers = "run"
    by_step: Mapping[str, Answers] | None = None


class Desk:
    """The runs in the order in which they were opened. Those of a large file grow while it is indexed."""

    def __init__(
        self,
        runs: Sequence[OpenedRun],
        *,
        named: Mapping[str, str] | None = None,
        metric: str | None = None,
        growing: GrowingRuns | None = None,
        compares: bool = False,
        refusal: Callable[[GoLive], str | None] = lambda live: None,
    ) -> None:
        self.studies = [Studied(opened, named, metric) for opened in runs]
        self.number = 0
        self.growing = growing
        self.compares = compares
        """Whether two runs were named, to be seen side by side."""
        self.refusal = refusal
        """Why a run can't be gone on with from a visit; None where it can. It may take a moment."""
        self.walk: Callable[[int, int | None], None] = lambda item, visit: None
        """Walk through the run with an item pinned, from a visit on; set by the screen that does."""

    @property
    def studied(self) -> Studied:
        return self.studies[self.number]

    def next(self) -> None:
        self.number = (self.number + 1) % len(self.studies)

    def grow(self) -> bool:
        """Take over what was indexed since; True where there is something new."""
        if self.growing is None:
            return False
        runs = self.growing.runs()
        for studied, opened in zip(self.studies, runs, strict=False):
            studied.opened = opened
        self.studies += [Studied(opened) for opened in runs[len(self.studies) :]]
        if self.growing.is_whole:
            self.growing = None
        return True


def run_name(run: SavedRun) -> str:
    """A run in a few words: its file, and which of the runs in it."""
    if run.timeline is not None:
        return f"{run.file.name}, timeline {run.timeline}"
    return run.file.name if run.place == 1 else f"{run.file.name}, run {run.place}"
