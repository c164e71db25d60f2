"""The outline of a pipeline: its steps without its text, to find each of them again after the file was edited."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, field

from workbench.pipeline.binding import described_source
from workbench.pipeline.model import BranchStep, LoopStep, Pipeline, Step, ToolStep, quoted_state

Matches = dict[str, str]
"""Old step path -> new step path."""


class OutlineStep(Struct, frozen=True):
    """A step: its path, its name (``server.tool``, ``loop``, ``branch``), and the rest of its text.

    ``blocks`` are the steps inside: of a loop under ``""``, of a branch under ``router`` and its states.
    """

    path: str
    name: str
    detail: str = ""
    blocks: Mapping[str, tuple[OutlineStep, ...]] = field(default_factory=dict)

    def block_path(self, block: str) -> str:
        return f"{self.path}.{block}" if block else self.path


Outline = tuple[OutlineStep, ...]


def outline_of(pipeline: Pipeline) -> Outline:
    return _outline(pipeline.steps)


def _outline(steps: Sequence[Step]) -> Outline:
    return tuple(_outline_step(step) for step in steps)


def _outline_step(step: Step) -> OutlineStep:
    if isinstance(step, ToolStep):
        inputs = ", ".join(f"{name}: {described_source(source)}" for name, source in sorted(step.inputs.items()))
        outputs = ", ".join(f"{name}: {target}" for name, target in sorted(step.outputs.items()))
        return OutlineStep(step.path, step.name, f"{inputs}{f' -> {outputs}' if outputs else ''}")
    if isinstance(step, LoopStep):
        return OutlineStep(step.path, step.name, f"{step.times} times", {"": _outline(step.steps)})
    assert isinstance(step, BranchStep)
    branches = {quoted_state(state): _outline(body) for state, body in step.branches.items()}
    return OutlineStep(step.path, step.name, ", ".join(branches), {"router": _outline(step.router), **branches})


def every_step(outline: Outline) -> Iterator[OutlineStep]:
    """All steps and the steps inside them, in file order."""
    for step in outline:
        yield step
        for block in step.blocks.values():
            yield from every_step(block)


def matched(old: Outline, new: Outline) -> Matches:
    """The steps that are in both, by name and enclosing block, in order.

    A longest common subsequence, block by block; of several a step with the same text as before is preferred.
    """
    return _match(old, new)[1]


def moved(old: Outline, new: Outline) -> Matches:
    """Like ``matched``; steps that went into another block are found by their name."""
    found = matched(old, new)
    left = tuple(_bare(step) for step in every_step(old) if step.path not in found)
    taken = set(found.values())
    right = tuple(_bare(step) for step in every_step(new) if step.path not in taken)
    return {**found, **matched(left, right)}


def moved_place(path: str, old: Outline, found: Matches) -> str | None:
    """Where a step's or block's path (``4.2``, ``4.continue``) went; None where it is there no more."""
    if path in found:
        return found[path]
    for step in every_step(old):
        for block in step.blocks:
            if block and step.block_path(block) == path and step.path in found:
                return f"{found[step.path]}.{block}"
    return None


def _bare(step: OutlineStep) -> OutlineStep:
    return OutlineStep(step.path, step.name, step.detail)


def _match(old: Outline, new: Outline) -> tuple[int, Matches]:
    """``(weight, matches)`` of two lists of steps: the common subsequence of the greatest weight."""
    pairs = [[_pair(one, other) for other in new] for one in old]
    best = [[0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for i in reversed(range(len(old))):
        for j in reversed(range(len(new))):
            best[i][j] = max(best[i + 1][j], best[i][j + 1], pairs[i][j][0] + best[i + 1][j + 1])
    found: Matches = {}
    i = j = 0
    while i < len(old) and j < len(new):
        weight, inside = pairs[i][j]
        if weight and best[i][j] == weight + best[i + 1][j + 1]:
            found |= inside
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return best[0][0], found


def _pair(one: OutlineStep, other: OutlineStep) -> tuple[int, Matches]:
    """How well two steps match, with the steps inside them; 0 where they do not."""
    if one.name != other.name:
        return 0, {}
    weight, found = 2 + (one.detail == other.detail), {one.path: other.path}
    for block, steps in one.blocks.items():
        inside, matches = _match(steps, other.blocks.get(block, ()))
        weight += inside
        found |= matches
    return weight, found
