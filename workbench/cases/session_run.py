"""Reads session files: every timeline is a run, with its inputs, times, rounds, branches and routes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from workbench.cases.saved_run import Recorded, RunUnreadable, SavedRun, SavedVisit, StepPlace
from workbench.engine.inputs import BoundInputs, StepError
from workbench.engine.timeline import Moment, Timeline
from workbench.engine.visiting import bound_again
from workbench.pipeline.binding import Binding
from workbench.pipeline.parameters import ParameterSet
from workbench.record.memory_file import EDITED_BY_HAND, plain
from workbench.record.session_reader import SessionUnreadable, read_about, read_session


def pipeline_of_session(file: Path) -> tuple[Path, Mapping[str, Any]]:
    """The pipeline file that a session was run from, and the options of that run. Raises ``RunUnreadable``."""
    try:
        about = read_about(file)
    except SessionUnreadable as error:
        raise RunUnreadable(str(error)) from None
    return Path(str(about.get("pipeline", ""))), about.get("options") or {}


def read_session_runs(
    file: Path,
    bindings: Mapping[str, Binding],
    parameters: ParameterSet,
    secrets: frozenset[str] = frozenset(),
) -> list[SavedRun]:
    """A run for each timeline, the one that the session stopped in first. Raises ``RunUnreadable``."""
    try:
        session = read_session(file, parameters, secrets)
    except SessionUnreadable as error:
        raise RunUnreadable(str(error)) from None
    numbers = sorted(session.timelines, key=lambda number: (number != session.present, number))
    return [
        run_of_timeline(
            session.path,
            session.timelines[number],
            bindings,
            failed=session.failed if number == session.present else None,
        )
        for number in numbers
    ]


def run_of_timeline(
    file: Path, timeline: Timeline, bindings: Mapping[str, Binding], failed: str | None = None
) -> SavedRun:
    """A timeline, of a file or of a session that is open, as a run to be studied."""
    entries = [visit for moment in timeline.moments for visit in _visits(moment, bindings)]
    visits = tuple(
        SavedVisit(number, visit.step, visit.saved, visit.places, visit.recorded)
        for number, visit in enumerate(entries, 1)
    )
    pool = timeline.moments[-1].after if timeline.moments else None
    return SavedRun(
        file,
        visits,
        (pool.count or 0) if pool is not None else 0,
        pool.counted_by if pool is not None else None,
        not_held="",
        failed=failed,
        whole=frozenset(v.name for v in pool if v.is_whole or v.is_wrong_length) if pool is not None else frozenset(),
        timeline=timeline.number,
    )


def _visits(moment: Moment, bindings: Mapping[str, Binding]) -> Iterator[SavedVisit]:
    """A visit, with an entry of its own before it for what was edited by hand."""
    edited = {
        edit.name: plain(variable.value)
        for edit in moment.before.edits
        if edit.what == "variable" and (variable := moment.before.pool.get(edit.name)) is not None
    }
    if edited:
        yield SavedVisit(0, EDITED_BY_HAND, edited)
    visit = moment.visit
    recorded = Recorded(
        visit.number,
        _inputs(moment, bindings.get(visit.step)),
        visit.items,
        visit.routes,
        visit.started,
        visit.seconds,
        visit.warnings,
        visit.provenance,
        visit.parameters,
    )
    saved = {name: plain(variable.value) for name, variable in visit.saved.items()}
    yield SavedVisit(0, visit.name, saved, (StepPlace(visit.step, visit.round, visit.branch),), recorded)


def _inputs(moment: Moment, binding: Binding | None) -> Mapping[str, Any]:
    """The arguments of a visit's call, worked out again from its checkpoint; none where its step is not known."""
    if binding is None or binding.step.name != moment.visit.name:
        return {}
    try:
        bound = bound_again(moment, binding)
    except StepError:
        return {}
    return LazyInputs(bound) if isinstance(bound, BoundInputs) else {}


class LazyInputs(Mapping[str, Any]):
    """Arguments by name; a long list is put together when it is looked at."""

    def __init__(self, bound: BoundInputs) -> None:
        self._inputs = {bound_input.argument: bound_input for bound_input in bound.inputs}

    def __getitem__(self, argument: str) -> Any:
        return plain(self._inputs[argument].value)

    def __iter__(self) -> Iterator[str]:
        return iter(self._inputs)

    def __len__(self) -> int:
        return len(self._inputs)
