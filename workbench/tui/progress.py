"""How far a run has come, step by step: read from its events alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from workbench.engine.cursor import Cursor
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
from workbench.engine.program import Program
from workbench.engine.timeline import Timeline
from workbench.pipeline.model import LoopStep

StepStatus = Literal["not reached", "running", "done", "skipped", "failed", "cancelled"]


class StepProgress(Struct, frozen=True):
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
    def after(cls, program: Program, cursor: Cursor, timeline: Timeline, position: int) -> Progress:
        """That of a run that has gone back: what the visits before the cursor have done, in the present rounds."""
        progress = cls()
        loops = [block for block in program.blocks.values() if block.kind == "loop"]
        rounds = _rounds(program, cursor)
        for place in reversed(range(position)):
            visit = timeline.moments[place].visit
            around = [loop for loop in loops if _is_inside(visit.step, loop.path)]
            depth = next((n for n, loop in enumerate(around) if loop.path not in rounds), len(around))
            here = rounds[around[depth - 1].path] if depth else ()
            if visit.step in progress._steps or visit.round[:depth] != here:
                continue
            progress._put(visit.step, StepProgress("done", visit.seconds, note="; ".join(visit.warnings)))
            for loop, number in zip(around[depth:], visit.round[depth:], strict=False):
                if loop.path not in progress._steps and isinstance(loop.owner, LoopStep):
                    progress._put(loop.path, StepProgress("done", round=number, times=loop.owner.times))
            branch = program.blocks[visit.step.rpartition(".")[0]].owner
            is_followed = place + 1 < position or cursor.is_end or cursor != timeline.moments[place].before.cursor
            if visit.routes and branch is not None and is_followed:
                taken = Counter(timeline.decided(place).values())
                progress._put(branch.path, StepProgress("done", taken=taken))
        for path, numbers in rounds.items():
            owner = program.blocks[path].owner
            if isinstance(owner, LoopStep):
                progress._put(path, StepProgress("running", round=numbers[-1], times=owner.times))
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


def _rounds(program: Program, cursor: Cursor) -> dict[str, tuple[int, ...]]:
    """The rounds of each loop around a cursor, outermost first: its path -> the numbers down to its own."""
    rounds: dict[str, tuple[int, ...]] = {}
    numbers: tuple[int, ...] = ()
    for frame in cursor.frames:
        if program.blocks[frame.block].kind == "loop":
            numbers = (*numbers, frame.round)
            rounds[frame.block] = numbers
    return rounds


def _is_inside(step: str, loop: str) -> bool:
    return step.startswith(f"{loop}.")
