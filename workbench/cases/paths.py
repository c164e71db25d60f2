"""The way of each item through the branches and rounds of a run."""

from __future__ import annotations

from itertools import groupby

from msgspec import Struct

from workbench.cases.flow import Flow
from workbench.cases.saved_run import SavedVisit
from workbench.pipeline.model import BranchStep, walk


class Turn(Struct, frozen=True):
    """One pass of an item through a branch: the branch's step path, the rounds, and the state that it took.

    ``state`` is None where the file does not tell. ``does_nothing`` says that the state has no steps under it;
    ``visit`` is the router's.
    """

    step: str
    round: tuple[int, ...]
    state: str | None
    does_nothing: bool
    visit: int
    is_recorded: bool = True
    """Whether a router's decision is in the file; else it was worked out from what the branches wrote."""


class ItemPath(Struct, frozen=True):
    """The turns of an item in order, and how many rounds of loops did something for it; None: not known."""

    turns: tuple[Turn, ...] = ()
    rounds: int | None = None

    def __str__(self) -> str:
        parts = []
        for step, turns in groupby(self.turns, key=lambda turn: turn.step):
            parts.append(f"{step}: {' '.join(turn.state or '?' for turn in turns)}")
        return "; ".join(parts)


def item_paths(flow: Flow) -> list[ItemPath]:
    """One for each item."""
    count = flow.run.count
    if flow.known is None or not all(visit.places for visit in flow.run.visits if visit.saved):
        return [ItemPath()] * count
    turns: list[list[Turn]] = [[] for _ in range(count)]
    branches = {s.path: s for s in walk(flow.known.pipeline.steps) if isinstance(s, BranchStep)}
    for visit in flow.run.visits:
        branch = branches.get(_branch_of_router(visit))
        if branch is not None and branch.router and visit.places[0].step == branch.router[-1].path:
            for item, turn in _turns(flow, visit, branch).items():
                turns[item].append(turn)
    rounds = _rounds(flow)
    return [ItemPath(tuple(turns[item]), rounds[item]) for item in range(count)]


def _branch_of_router(visit: SavedVisit) -> str:
    block, _, _ = (visit.places[0].step if visit.places else "").rpartition(".")
    return block.removesuffix(".router") if block.endswith(".router") else ""


def _turns(flow: Flow, router: SavedVisit, branch: BranchStep) -> dict[int, Turn]:
    place = router.places[0]

    def turn(state: str | None, *, is_recorded: bool) -> Turn:
        does_nothing = state is not None and not branch.branches.get(state)
        return Turn(branch.path, place.round, state, does_nothing, router.number, is_recorded)

    if router.recorded is not None:
        return {item: turn(state, is_recorded=True) for item, state in router.recorded.routes.items()}
    states: dict[int, str] = {}
    for visit in flow.run.visits[router.number :]:
        its = visit.places[0] if visit.places else None
        if its is None or not (its.step.startswith(f"{branch.path}.") and its.round[: len(place.round)] == place.round):
            break
        taken = its.branch[len(place.branch)] if len(its.branch) > len(place.branch) else None
        if taken is not None:
            states.update(dict.fromkeys(flow.items_of(visit) or (), taken))
    idle = [state for state, body in branch.branches.items() if not body]
    rest = idle[0] if len(idle) == 1 else None
    routed = [n for n, v in router.saved.items() if flow.run.is_item_list(v, n)]
    seen = flow.items_of(router) if place.branch and routed else None
    items = range(flow.run.count) if seen is None else sorted(seen)
    return {item: turn(states.get(item, rest), is_recorded=False) for item in items}


def _rounds(flow: Flow) -> list[int]:
    """For each item the rounds in which a loop did something for it: in its branches, where it has branches."""
    looped = [visit for visit in flow.run.visits if visit.places and visit.places[0].round]
    with_branches = {_loop(visit) for visit in looped if visit.places[0].branch or _branch_of_router(visit)}
    found: list[set[tuple[str, tuple[int, ...]]]] = [set() for _ in range(flow.run.count)]
    for visit in looped:
        if _loop(visit) in with_branches and not visit.places[0].branch:
            continue
        key = _loop(visit), visit.places[0].round
        items = flow.items_of(visit)
        for item in range(flow.run.count) if items is None else items:
            found[item].add(key)
    return [len(rounds) for rounds in found]


def _loop(visit: SavedVisit) -> str:
    return visit.places[0].step.partition(".")[0]
