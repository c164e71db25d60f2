"""The Python of a step's tool, where its file can be found."""

from __future__ import annotations

import ast
from pathlib import Path

from msgspec import Struct

from workbench.pipeline.model import Step, ToolStep
from workbench.pipeline.prepare import Prepared

READ_CHARACTERS = 2_000_000


class Code(Struct, frozen=True):
    """A file's lines, and those of the function that was sought: from 1, empty where it is not in the file."""

    name: str
    lines: tuple[str, ...]
    first: int = 0
    last: int = 0
    problem: str = ""


def code_of(step: Step | None, prepared: Prepared) -> Code:
    """The code behind a step. What can't be shown is said in ``problem``."""
    if not isinstance(step, ToolStep):
        return Code("", (), problem="a loop or a branch has no code of its own")
    source = prepared.sources[step.alias]
    if source.script is None:
        return Code("", (), problem=f"{step.alias} is not a Python file of this machine: {source.origin}")
    name = _name(source.script, prepared.project)
    try:
        text = source.script.read_text(encoding="utf-8", errors="replace")[:READ_CHARACTERS]
    except OSError as error:
        return Code(name, (), problem=f"{name}: {error.strerror}")
    first, last = _function(text, step.tool)
    return Code(name, tuple(text.split("\n")), first, last)


def _name(file: Path, project: Path) -> str:
    return str(file.relative_to(project)) if file.is_relative_to(project) else file.name


def _function(text: str, name: str) -> tuple[int, int]:
    """The lines of a function, with its decorators."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return 0, 0
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name:
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            return first, node.end_lineno or node.lineno
    return 0, 0
