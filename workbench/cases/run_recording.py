"""A saved run as a recording: it answers the visits of a live run, so that they need not be made again.

Visits are found by step, round and branch. What a tool returned is put together again from what it wrote; a router's
decisions are in a session file only, and are asked for again where the router is pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.cases.flow import Flow
from workbench.cases.opening import OpenedRun
from workbench.cases.paths import item_paths
from workbench.cases.saved_run import SavedVisit, StepPlace, is_unset
from workbench.engine.cursor import Place
from workbench.engine.entries import is_same
from workbench.engine.ports import CallResult, Edit
from workbench.engine.recording import Answers
from workbench.engine.routing import routes_in_words
from workbench.engine.values import UNSET, is_list
from workbench.engine.visit import Visit
from workbench.pipeline.binding import Binding, Output
from workbench.pipeline.model import FromVariable
from workbench.record.memory_file import EDITED_BY_HAND, plain

_LOST = object()
"""What can't be put together again."""
_Key = tuple[str, tuple[int, ...], tuple[str, ...]]


class RunRecording:
    """The engine's ``Recording`` of one saved run, from before whose visit ``start`` the user goes live."""

    def __init__(self, opened: OpenedRun, start: int) -> None:
        self.is_rebuilding = True
        self._opened = opened
        self._run = opened.run
        self._flow = Flow(opened.run, opened.pipeline)
        self._visits = self._by_place()
        self._start = next((v for v in self._run.visits[start - 1 :] if v.step != EDITED_BY_HAND), None)
        self._told: set[_Key] = set()

    def _by_place(self) -> dict[_Key, SavedVisit]:
        """Of a visit with several places the first that no earlier one was given."""
        found: dict[_Key, SavedVisit] = {}
        for visit in self._run.visits:
            key = next((key for place in visit.places if (key := _key(place)) not in found), None)
            if key is not None:
                found[key] = visit
        return found

    # ---- while it is rebuilt

    def why_live(self, step: str, place: Place, binding: Binding | None) -> tuple[str, bool] | None:
        """Each place is told of once: whoever runs on has been told."""
        key = step, place.round, place.branch
        visit, name = self._visits.get(key), self._run.file.name
        if visit is not None and visit is self._start:
            self.is_rebuilding = False
            return f"live from here: before visit {visit.number} of {name}", True
        lacks = self._lacks(visit, step, binding)
        if lacks is None or key in self._told:
            return None
        self._told.add(key)
        return lacks, False

    def _lacks(self, visit: SavedVisit | None, step: str, binding: Binding | None) -> str | None:
        """What of a step is not in the file; None where it can be rebuilt."""
        name = self._run.file.name
        if visit is None:
            return f"{name} has no visit of step {step} here: run it, and go on"
        if binding is None:
            return None
        lost = [output.target for output in binding.outputs if self._given(visit, output, None) is _LOST]
        if lost:
            return f"{name} does not hold {', '.join(lost)} of step {step} {visit.step}: run it, and go on"
        if binding.is_router and not self._routes(visit) and not binding.declaration.pure:
            shown = self._shown_routes(visit)
            seen = f"; by what its branches wrote: {routes_in_words(shown)}" if shown else ""
            return (
                f"{name} does not hold what the router {visit.step} decided, and it is not marked as pure: "
                f"run it, mend its decisions, and go on{seen}"
            )
        return None

    def _shown_routes(self, visit: SavedVisit) -> Mapping[int, str]:
        """The states that what the branches wrote tells of, as far as it does."""
        paths = item_paths(self._flow)
        turns = ((item, turn) for item, path in enumerate(paths) for turn in path.turns if turn.visit == visit.number)
        return {item: turn.state for item, turn in turns if turn.state is not None}

    def edits_before(self, visit: Visit) -> tuple[Edit, ...]:
        saved = self._visits.get(_key(visit))
        if saved is None or saved.number < 2:
            return ()
        before = self._run.visits[saved.number - 2]
        if before.step != EDITED_BY_HAND:
            return ()
        return tuple(Edit("variable", name, _as_kept(value)) for name, value in before.saved.items())

    # ---- answers

    def knows(self, visit: Visit, answers: Answers) -> bool:
        saved = self._visits.get(_key(visit))
        if saved is None or saved.step != visit.name:
            return False
        return self.is_rebuilding or answers != "run"

    def answer(self, visit: Visit, binding: Binding, answers: Answers) -> CallResult | None:
        saved = self._visits.get(_key(visit))
        if saved is None or visit.bound is None:
            return None
        if not self.is_rebuilding and answers == "recorded if equal" and not self._has_same_inputs(saved, visit):
            return None
        values: dict[str, Any] = {}
        for output in binding.outputs:
            given = self._given(saved, output, visit.items)
            if given is not _LOST and binding.is_router and not output.is_parameter:
                given = self._routed(saved, given, visit.items or ())
            if given is _LOST:
                return None
            values[output.declared] = given
        if binding.declaration.kind == "prompt":
            return CallResult([_message(text) for text in next(iter(values.values()), [])])
        if binding.is_bare:
            return CallResult(next(iter(values.values()), None))
        return CallResult(values)

    def _given(self, saved: SavedVisit, output: Output, items: tuple[int, ...] | None) -> Any:
        """What a visit gave for an output: of an item list the entries of its items."""
        if output.is_parameter:
            known = saved.recorded.parameters if saved.recorded is not None else {}
            return known.get(output.target, _LOST)
        if output.target not in saved.saved:
            return _LOST
        value = saved.saved[output.target]
        if items is None or not self._run.is_item_list(value, output.target):
            return _as_kept(value)
        entries = [value[item] for item in items]
        return _LOST if any(map(is_unset, entries)) else [_as_kept(entry) for entry in entries]

    def _routes(self, saved: SavedVisit) -> Mapping[int, str]:
        return saved.recorded.routes if saved.recorded is not None else {}

    def _routed(self, saved: SavedVisit, given: Any, items: tuple[int, ...]) -> Any:
        routes = self._routes(saved)
        if not is_list(given) or len(given) != len(items) or any(item not in routes for item in items):
            return _LOST
        return [{"data": data, "state": routes[item]} for data, item in zip(given, items, strict=True)]

    def _has_same_inputs(self, saved: SavedVisit, visit: Visit) -> bool:
        """Whether a visit is given what the recorded one was: of a memory file, what it read of the variables."""
        assert visit.bound is not None
        if saved.recorded is not None and saved.recorded.inputs:
            now = {name: plain(value) for name, value in visit.bound.arguments().items()}
            return saved.recorded.items == visit.items and is_same(dict(saved.recorded.inputs), now)
        stood = self._run.variables_after(saved.number - 1)
        for bound in visit.bound.inputs:
            if isinstance(bound.source, FromVariable):
                name = bound.source.name
                then: Any = stood[name].value if name in stood else None
                if visit.items is not None and self._run.is_item_list(then, name):
                    then = [then[item] for item in visit.items]
                if not is_same(list(then) if is_list(then) else then, plain(bound.value)):
                    return False
        return True


def _key(place: StepPlace | Visit) -> _Key:
    return place.step, place.round, place.branch


def _as_kept(value: Any) -> Any:
    """A value of a file in the engine's terms."""
    if is_unset(value):
        return UNSET
    return [_as_kept(entry) for entry in value] if is_list(value) else value


def _message(text: Any) -> dict[str, Any]:
    """A prompt's message; of its role no file tells, and the user's is the dialect's own."""
    return {"role": "user", "content": {"type": "text", "text": str(text)}}
