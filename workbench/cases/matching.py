"""Finds for each visit of a memory file the step, round and branch of the pipeline that it may have been.

The file holds step names in order and what each wrote, no more. The pipeline is laid out as a graph: loops round by
round, branches side by side, in any order. A visit walks one step of it; passing over a step (skipped, failed) costs
something, as does a step that should have written other variables. The cheapest ways through are found forth and back
(Dijkstra 1959, over visits x places); every place that lies on one of them is kept.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from workbench.cases.saved_run import SavedRun, SavedVisit, StepPlace
from workbench.pipeline.binding import Binding
from workbench.pipeline.model import BranchStep, LoopStep, Pipeline, Step, ToolStep, walk

_SKIPPED, _LEFT_EARLY, _OTHER_ORDER, _WROTE_OTHERS, _STRANGER = 4, 4, 1, 12, 40
"""What it costs: a step without a visit; a loop left before its rounds were used up, where no branch could end it;
branches not in the order of the file; a visit that wrote other variables than its step; one of no step at all."""
_REACH = 40
"""Places that cost this much more than the cheapest are not followed."""

Costs = dict[int, int]
"""Place -> what the way to it (or from it) costs."""


class _Graph(Struct):
    """Places as numbers. ``free`` edges are passed without a visit; ``steps`` are walked by one."""

    free: list[list[tuple[int, int]]] = field(default_factory=list)
    steps: list[list[tuple[int, ToolStep, StepPlace]]] = field(default_factory=list)

    def place(self) -> int:
        self.free.append([])
        self.steps.append([])
        return len(self.free) - 1

    def reversed_free(self) -> list[list[tuple[int, int]]]:
        back: list[list[tuple[int, int]]] = [[] for _ in self.free]
        for begin, edges in enumerate(self.free):
            for end, cost in edges:
                back[end].append((begin, cost))
        return back


def with_places(run: SavedRun, pipeline: Pipeline, bindings: Mapping[str, Binding]) -> SavedRun:
    """The run with the places of its visits; a visit of no step of the pipeline has none."""
    places = places_of(run.visits, pipeline, bindings)
    visits = tuple(replace(visit, places=found) for visit, found in zip(run.visits, places, strict=True))
    return replace(run, visits=visits, not_held="inputs, times and messages")


def places_of(
    visits: Sequence[SavedVisit], pipeline: Pipeline, bindings: Mapping[str, Binding]
) -> list[tuple[StepPlace, ...]]:
    """Visits x the places that each may have been at, in the order of the file."""
    graph = _Graph()
    names = Counter(visit.step for visit in visits)
    _lay(graph, pipeline.steps, graph.place(), StepPlace(""), names)
    wrote = {step.path: _outputs(step, bindings.get(step.path)) for step in pipeline.tool_steps()}
    return _Matching(graph, visits, wrote).places()


def _lay(graph: _Graph, steps: Iterable[Step], at: int, place: StepPlace, names: Counter[str]) -> int:
    """Lay out steps one after the other from ``at`` on; gives where they end."""
    for step in steps:
        if isinstance(step, ToolStep):
            end = graph.place()
            graph.steps[at].append((end, step, replace(place, step=step.path)))
            graph.free[at].append((end, _SKIPPED))
            at = end
        elif isinstance(step, LoopStep):
            at = _lay_loop(graph, step, at, place, names)
        else:
            assert isinstance(step, BranchStep)
            at = _lay_branch(graph, step, at, place, names)
    return at


def _lay_loop(graph: _Graph, loop: LoopStep, at: int, place: StepPlace, names: Counter[str]) -> int:
    inside = {step.name for step in walk(loop.steps) if isinstance(step, ToolStep)}
    most = min(loop.times, 1 + max((names[name] for name in inside), default=0))
    ends_by_branch = bool(loop.steps) and isinstance(loop.steps[-1], BranchStep)
    exit = graph.place()
    graph.free[at].append((exit, 0 if loop.times == 0 else _LEFT_EARLY))
    for number in range(1, most + 1):
        at = _lay(graph, loop.steps, at, replace(place, round=(*place.round, number)), names)
        graph.free[at].append((exit, 0 if ends_by_branch or number == loop.times else _LEFT_EARLY))
    return exit


def _lay_branch(graph: _Graph, branch: BranchStep, at: int, place: StepPlace, names: Counter[str]) -> int:
    routed = _lay(graph, branch.router, at, place, names)
    exit = graph.place()
    graph.free[routed].append((exit, 0))
    bodies = [(state, body) for state, body in branch.branches.items() if body]
    begins = [graph.place() for _ in bodies]
    for number, (state, body) in enumerate(bodies):
        graph.free[routed].append((begins[number], 0))
        end = _lay(graph, body, begins[number], replace(place, branch=(*place.branch, state)), names)
        graph.free[end].append((exit, 0))
        graph.free[end] += [
            (begin, 0 if other > number else _OTHER_ORDER) for other, begin in enumerate(begins) if other != number
        ]
    return exit


def _outputs(step: ToolStep, binding: Binding | None) -> tuple[frozenset[str], bool]:
    """The variables that a step writes, and whether these are all of them."""
    if binding is not None:
        return frozenset(output.target for output in binding.outputs if not output.is_parameter), True
    return frozenset(target for target in step.outputs.values() if not target.startswith("$")), False


class _Matching(Struct):
    """One search for the cheapest ways of all visits through a graph."""

    graph: _Graph
    visits: Sequence[SavedVisit]
    wrote: Mapping[str, tuple[frozenset[str], bool]]

    def places(self) -> list[tuple[StepPlace, ...]]:
        forth = self._forth()
        back: Costs = dict.fromkeys(range(len(self.graph.free)), 0)
        reverse = self.graph.reversed_free()
        found: list[tuple[StepPlace, ...]] = []
        for visit, layer in zip(reversed(self.visits), reversed(forth[:-1]), strict=True):
            before, places = self._step_back(visit, layer, back)
            back = _spread(reverse, before)
            found.append(places)
        return found[::-1]

    def _forth(self) -> list[Costs]:
        """For each number of visits, the places to be at after them, and what the way there costs."""
        layers = [_spread(self.graph.free, {0: 0})]
        for visit in self.visits:
            layer = layers[-1]
            following: Costs = {place: cost + _STRANGER for place, cost in layer.items()}
            for place, cost in layer.items():
                for end, step, _ in self.graph.steps[place]:
                    more = self._cost(visit, step)
                    if more is not None:
                        following[end] = min(following.get(end, cost + more), cost + more)
            layers.append(_spread(self.graph.free, following))
        return layers

    def _step_back(self, visit: SavedVisit, forth: Costs, back: Costs) -> tuple[Costs, tuple[StepPlace, ...]]:
        """One visit backwards: what the way from each place before it to the end costs, and where it was."""
        before: Costs = {place: back[place] + _STRANGER for place in forth if place in back}
        ways: list[tuple[int, StepPlace]] = []
        for place, cost in forth.items():
            for end, step, where in self.graph.steps[place]:
                more = self._cost(visit, step)
                if more is not None and end in back:
                    before[place] = min(before.get(place, more + back[end]), more + back[end])
                    ways.append((cost + more + back[end], where))
        least = min((cost + before[place] for place, cost in forth.items() if place in before), default=0)
        return before, tuple(dict.fromkeys(where for cost, where in ways if cost == least))

    def _cost(self, visit: SavedVisit, step: ToolStep) -> int | None:
        """What it costs to take a visit for one of this step; None where it can't be one."""
        if visit.step != step.name:
            return None
        names, are_all = self.wrote[step.path]
        saved = frozenset(visit.saved)
        return 0 if (names == saved if are_all else names <= saved) else _WROTE_OTHERS


def _spread(free: list[list[tuple[int, int]]], begin: Costs) -> Costs:
    """All places that can be reached without a visit, with what that costs."""
    known: Costs = {}
    waiting = [(cost, place) for place, cost in begin.items()]
    heapq.heapify(waiting)
    limit = waiting[0][0] + _REACH if waiting else 0
    while waiting:
        cost, place = heapq.heappop(waiting)
        if cost > limit or place in known:
            continue
        known[place] = cost
        for end, more in free[place]:
            if end not in known:
                heapq.heappush(waiting, (cost + more, end))
    return known
