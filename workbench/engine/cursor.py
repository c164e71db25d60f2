"""Where a run is, and what comes next: pure functions of program and cursor, no recursion to be stuck in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from workbench.engine.events import BranchRouted, Event, LoopFinished, LoopRound
from workbench.engine.program import ROOT, Block, Program, branch_path, router_path
from workbench.pipeline.model import BranchStep, LoopStep, Step

Items = tuple[int, ...]


class Frame(Struct, frozen=True):
    """A place in one block.

    ``items`` are those of a branch; ``pending`` its branches still to come, with their items. ``is_idle`` says that
    the step before was a branch in which every item was done; ``was_idle`` that so were the branches before.
    """

    block: str
    index: int = 0
    round: int = 0
    items: Items | None = None
    pending: tuple[tuple[str, Items], ...] = ()
    is_idle: bool = False
    was_idle: bool = True


class Cursor(Struct, frozen=True):
    """An immutable stack of frames, outermost first; empty at the end of the run."""

    frames: tuple[Frame, ...] = (Frame(ROOT),)

    @property
    def is_end(self) -> bool:
        return not self.frames

    @property
    def depth(self) -> int:
        return len(self.frames)

    @property
    def items(self) -> Items | None:
        """The items of the innermost branch; None outside of every branch."""
        return next((frame.items for frame in reversed(self.frames) if frame.items is not None), None)


class Place(Struct, frozen=True):
    """A cursor in the words of events: step path, rounds and branch states, outermost first."""

    step: str | None
    name: str | None
    round: tuple[int, ...]
    branch: tuple[str, ...]


def step_at(program: Program, cursor: Cursor) -> Step | None:
    """The step that runs next; None at the end."""
    if cursor.is_end:
        return None
    top = cursor.frames[-1]
    return program.blocks[top.block].steps[top.index]


def place_of(program: Program, cursor: Cursor) -> Place:
    blocks = [program.blocks[frame.block] for frame in cursor.frames]
    step = step_at(program, cursor)
    return Place(
        step.path if step else None,
        step.name if step else None,
        tuple(frame.round for frame, block in zip(cursor.frames, blocks, strict=True) if block.kind == "loop"),
        tuple(block.state for block in blocks if block.state is not None),
    )


class Move(Struct, frozen=True):
    """Where the cursor went, and what there is to tell of the way."""

    cursor: Cursor
    facts: tuple[Event, ...] = ()


def enter(program: Program, cursor: Cursor) -> Move:
    """Go into the loop or branch at the cursor; past it, if there is nothing to run in it."""
    step = step_at(program, cursor)
    if isinstance(step, BranchStep):
        return Move(Cursor((*cursor.frames, Frame(router_path(step)))))
    if not isinstance(step, LoopStep):
        raise TypeError("only a loop or a branch can be entered")
    if step.times == 0 or not step.steps:
        reason = "its times is 0" if step.times == 0 else "it has no steps"
        after = advance(program, cursor)
        return Move(after.cursor, (_loop_finished(program, cursor.frames, step, 0, reason), *after.facts))
    inside = Cursor((*cursor.frames, Frame(step.path, round=1)))
    return Move(inside, (_round(program, inside, step),))


def advance(program: Program, cursor: Cursor, routes: Mapping[int, str] | None = None) -> Move:
    """Go on after the step at the cursor. ``routes`` (item -> state) are what the router at the cursor decided."""
    facts: list[Event] = []
    frames = cursor.frames
    is_idle = False
    while frames:
        top = replace(frames[-1], index=frames[-1].index + 1, is_idle=is_idle)
        outer = frames[:-1]
        block = program.blocks[top.block]
        if top.index < len(block.steps):
            return Move(Cursor((*outer, top)), tuple(facts))
        if block.kind == "loop":
            again = _next_round(program, block, outer, top, facts)
            if again is not None:
                return Move(again, tuple(facts))
            frames, is_idle = outer, False
        elif block.kind in ("router", "branch"):
            following = (
                _first_branch(program, block, outer, routes or {}, facts)
                if block.kind == "router"
                else _next_branch(block, top)
            )
            if isinstance(following, Frame):
                return Move(Cursor((*outer, following)), tuple(facts))
            frames, is_idle = outer, following
        else:
            frames = outer
    return Move(Cursor(()), tuple(facts))


def _next_round(
    program: Program, block: Block, outer: tuple[Frame, ...], top: Frame, facts: list[Event]
) -> Cursor | None:
    """The loop's next round, or None where it ends: its rounds are used up, or every item is done.

    A loop is over when the last thing in its body is a branch and each item its router got went where no steps are.
    """
    loop = block.owner
    assert isinstance(loop, LoopStep)
    all_done = top.is_idle and isinstance(block.steps[-1], BranchStep)
    if all_done or top.round >= loop.times:
        reason = "every item is done" if all_done else "all its rounds have run"
        facts.append(_loop_finished(program, outer, loop, top.round, reason))
        return None
    cursor = Cursor((*outer, replace(top, index=0, round=top.round + 1, is_idle=False)))
    facts.append(_round(program, cursor, loop))
    return cursor


def _round(program: Program, cursor: Cursor, loop: LoopStep) -> LoopRound:
    place = place_of(program, cursor)
    return LoopRound(step=loop.path, name=loop.name, round=place.round, branch=place.branch, times=loop.times)


def _loop_finished(
    program: Program, outer: tuple[Frame, ...], loop: LoopStep, rounds: int, reason: str
) -> LoopFinished:
    place = place_of(program, Cursor(outer))
    about: dict[str, Any] = {"round": place.round, "branch": place.branch}
    return LoopFinished(step=loop.path, name=loop.name, rounds=rounds, times=loop.times, reason=reason, **about)


def _first_branch(
    program: Program, block: Block, outer: tuple[Frame, ...], routes: Mapping[int, str], facts: list[Event]
) -> Frame | bool:
    """The first branch that has items and steps; else True: there is nothing left to do for any item."""
    branch = block.owner
    assert isinstance(branch, BranchStep)
    taken = {state: tuple(i for i, s in sorted(routes.items()) if s == state) for state in branch.branches}
    place = place_of(program, Cursor(outer))
    facts.append(
        BranchRouted(
            step=branch.path,
            name=branch.name,
            states={s: i for s, i in taken.items() if i},
            round=place.round,
            branch=place.branch,
        )
    )
    running = [(branch_path(branch, s), items) for s, items in taken.items() if items and branch.branches[s]]
    if not running:
        return True
    (path, items), *pending = running
    return Frame(path, items=items, pending=tuple(pending))


def _next_branch(block: Block, top: Frame) -> Frame | bool:
    """The next branch that has items; else whether every item of all branches was done."""
    holds_a_branch = len(block.steps) == 1 and isinstance(block.steps[0], BranchStep)
    was_idle = top.was_idle and holds_a_branch and top.is_idle
    if not top.pending:
        return was_idle
    (path, items), *pending = top.pending
    return Frame(path, items=items, pending=tuple(pending), was_idle=was_idle)
