"""How far a run has come, step by step: read from its events alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from workbench.engine.events import (
    BranchRouted,
    Event,
    LoopFinished,
    LoopRound,
    StepSkipped,
    VisitFailed,
    VisitFinished,
    VisitStarted,
)
from workbench.engine.visit import Visit

StepStatus = Literal["not reached", "running", "done", "skipped", "failed", "cancelled"]


@dataclass(frozen=True)
class StepProgress:
    """One step of the tree. ``round`` and ``times`` are a loop's; ``taken`` says how many items each branch took."""

    status: StepStatus = "not reached"
    seconds: float | None = None
    note: str = ""
    round: int = 0
    times: int = 0
    taken: Mapping[str, int] | None = None


_NOT_REACHED = StepProgress()


class Progress:
    """The progress of every step that was reached. Steps inside a loop begin anew with each round."""

    def __init__(self) -> None:
        self._steps: dict[str, StepProgress] = {}

    @classmethod
    def after(cls, visits: Iterable[Visit]) -> Progress:
        """That of a run that has gone back: the steps of the visits before the cursor are done."""
        progress = cls()
        for visit in visits:
            progress._put(visit.step, StepProgress("done", visit.seconds, note="; ".join(visit.warnings)))
        return progress

    def of(self, step: str) -> StepProgress:
        return self._steps.get(step, _NOT_REACHED)

    def take(self, event: Event) -> None:
        match event:
            case VisitStarted():
                self._put(event.step, StepProgress("running"))
            case VisitFinished():
                self._put(event.step, StepProgress("done", event.seconds, note="; ".join(event.warnings)))
            case VisitFailed():
                status: StepStatus = "cancelled" if event.error == "cancelled" else "failed"
                self._put(event.step, StepProgress(status, event.seconds, note=event.error))
            case StepSkipped():
                self._put(event.step, StepProgress("skipped", note=event.reason))
            case LoopRound():
                self._forget_inside(event.step)
                self._put(event.step, StepProgress("running", round=event.round[-1], times=event.times))
            case LoopFinished():
                done = StepProgress("done", note=event.reason, round=event.rounds, times=event.times)
                self._put(event.step, done)
            case BranchRouted():
                taken = {state: len(items) for state, items in event.states.items()}
                self._put(event.step, replace(self.of(event.step), status="done", taken=taken))
            case _:
                pass

    def _put(self, step: str, progress: StepProgress) -> None:
        self._steps[step] = progress

    def _forget_inside(self, step: str) -> None:
        self._steps = {path: known for path, known in self._steps.items() if not path.startswith(f"{step}.")}
