"""A pipeline as it is written: typed steps, each with its path and its place in the file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from workbench.pipeline.problems import Position


class FromVariable(Struct, frozen=True):
    """An input that is the value of a variable."""

    name: str


class FromMemory(Struct, frozen=True):
    """An input that is the memory list of a variable: one entry per save."""

    variable: str


class FromParameter(Struct, frozen=True):
    """An input that is a parameter of the step's server."""

    name: str


class Literal(Struct, frozen=True):
    """An input that is the value itself, as written."""

    value: Any


InputSource = FromVariable | FromMemory | FromParameter | Literal


def is_memory_name(name: str) -> bool:
    return name.startswith(("memory_", "mem_"))


def source_of(name: str) -> InputSource:
    """What an input's text means: ``$p`` a parameter, ``memory_x`` or ``mem_x`` a memory list, else a variable."""
    if name.startswith("$"):
        return FromParameter(name[1:])
    if is_memory_name(name):
        return FromMemory(name.partition("_")[2])
    return FromVariable(name)


class ToolStep(Struct, frozen=True):
    """``alias.tool``, with the renames that are written under it."""

    path: str
    position: Position
    last_line: int
    alias: str
    tool: str
    inputs: Mapping[str, InputSource] = field(default_factory=dict)
    outputs: Mapping[str, str] = field(default_factory=dict)
    places: Mapping[str, Position] = field(default_factory=dict)
    """Where each key under ``input:`` (``"input.q_ls"``) and ``output:`` stands."""
    is_implied: bool = False
    """Whether the file does not have it, and the dialect adds it; its failure is told, and fails no run."""

    @property
    def name(self) -> str:
        return f"{self.alias}.{self.tool}"

    def place(self, key: str) -> Position:
        return self.places.get(key, self.position)


class LoopStep(Struct, frozen=True):
    """``loop``: its steps, ``times`` times at most."""

    path: str
    position: Position
    last_line: int
    times: int
    steps: tuple[Step, ...]

    name = "loop"


class BranchStep(Struct, frozen=True):
    """``branch``: a router decides for each item which of the branches it takes."""

    path: str
    position: Position
    last_line: int
    router: tuple[Step, ...]
    branches: Mapping[str, tuple[Step, ...]]

    name = "branch"


Step = ToolStep | LoopStep | BranchStep


class ServerEntry(Struct, frozen=True):
    """One entry under ``servers:``, or one of an MCP client's configuration, which then is ``file``.

    ``places`` says where each part of a map stands: ``url``, ``headers.Authorization``, ``args.0``.
    """

    alias: str
    value: Any
    position: Position
    places: Mapping[str, Position] = field(default_factory=dict)
    file: Path | None = None


class Pipeline(Struct, frozen=True):
    """A pipeline file, read."""

    file: Path
    text: str
    servers: Mapping[str, ServerEntry]
    steps: tuple[Step, ...]
    items: str | None = None
    """The list that sets the number of items, where the file names one."""
    whole: frozenset[str] = frozenset()
    """Variables that are never item lists, whatever their length."""
    places: Mapping[str, Position] = field(default_factory=dict)
    """Where each name under ``items:`` (``"items.q_ls"``) and ``whole:`` (``"whole.q_ls"``) stands."""

    @property
    def stem(self) -> str:
        return self.file.stem

    def tool_steps(self) -> Iterator[ToolStep]:
        """Every tool step in file order: router before branches, a loop's body once."""
        for step in walk(self.steps):
            if isinstance(step, ToolStep):
                yield step

    def used_aliases(self) -> tuple[str, ...]:
        """The servers that steps use, in order of first use."""
        return tuple(dict.fromkeys(step.alias for step in self.tool_steps()))

    def step_at_line(self, line: int) -> Step | None:
        """The innermost step that covers the line, else the next one below it; counted from 1."""
        steps = list(walk(self.steps))
        covering = [s for s in steps if s.position.line <= line <= s.last_line]
        if covering:
            return max(covering, key=lambda s: s.position)
        below = [s for s in steps if s.position.line > line]
        return min(below, key=lambda s: s.position) if below else None


def walk(steps: tuple[Step, ...]) -> Iterator[Step]:
    """All steps and the steps inside them, in file order."""
    for step in steps:
        yield step
        if isinstance(step, LoopStep):
            yield from walk(step.steps)
        elif isinstance(step, BranchStep):
            yield from walk(step.router)
            for body in step.branches.values():
                yield from walk(body)


def quoted_state(state: str) -> str:
    """A branch's state as it stands in a step path: quoted where it holds a dot, a blank or a quote."""
    if state and not any(c in '."' or c.isspace() for c in state):
        return state
    return '"' + state.replace('"', '""') + '"'
