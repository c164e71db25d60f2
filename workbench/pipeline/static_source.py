"""What a Python server offers, read from its files: so that mistakes show before any server is started.

Only what stands there plainly is understood. Whatever else may register tools makes the declaration incomplete; the
running server's own word always counts more.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from msgspec import Struct

from workbench.pipeline.app_use import uses_app_plainly
from workbench.pipeline.declaration import ServerDeclaration
from workbench.pipeline.description import described, overlaid
from workbench.pipeline.problems import Position, Problem
from workbench.pipeline.project import ServerSource
from workbench.pipeline.registrations import Registrations
from workbench.pipeline.source_tree import SourceTree

_KIT_MODULES = {"ultrarag.server", "workbench.mcp.kit"}
_REGISTERING = {"tool", "prompt", "add_tool", "add_prompt", "mount"}


def read_declaration(source: ServerSource) -> tuple[ServerDeclaration | None, list[Problem]]:
    """The declaration as far as the server's files tell it, if they tell anything, and mistakes in ``server.yaml``."""
    if source.script is None:
        return None, []
    try:
        tree = ast.parse(source.script.read_bytes())
    except SyntaxError as error:
        return None, [_syntax_problem(source, source.script, error)]
    except (OSError, ValueError, RecursionError):
        return None, []
    found = Registrations(SourceTree(tree))
    complete = found.complete and uses_app_plainly(found) and not _siblings_register(tree, source.script.parent)
    tools = found.tools
    problems: list[Problem] = []
    if not _uses_kit(tree) and "build" not in tools:
        descriptions, problems = described(source.description_file)
        tools = overlaid(tools, {name: tool for name, tool in descriptions.items() if name in tools or not complete})
    return ServerDeclaration(source.alias, tools, complete, origin=str(source.script)), problems


def _syntax_problem(source: ServerSource, file: Path, error: SyntaxError) -> Problem:
    """A server that Python can't read; only a warning where a Python of its own may, with a newer syntax."""
    position = Position(error.lineno or 1, error.offset or 1)
    has_own_python = source.python is not None or any(
        (folder / ".venv").is_dir() for folder in (file.parent, file.parent.parent)
    )
    return Problem(file, position, f"the server is no valid Python: {error.msg}", is_warning=has_own_python)


class _Glance(Struct, frozen=True):
    """What counts of a module that a script imports."""

    imported: tuple[str, ...]
    registers: bool


def _glance(file: Path) -> _Glance | None:
    try:
        return _glance_at(file.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None


@lru_cache(maxsize=128)
def _glance_at(text: bytes) -> _Glance:
    """Kept by the text itself: aliases share their server's files, and a pipeline is read again and again."""
    tree = ast.parse(text)
    return _Glance(tuple(_imported(tree)), _seems_to_register(tree))


def _uses_kit(tree: ast.Module) -> bool:
    return not _KIT_MODULES.isdisjoint(_imported(tree))


def _siblings_register(tree: ast.Module, folder: Path) -> bool:
    """Whether a module beside the script that it imports, itself or by way of others, seems to register tools."""
    seen: set[Path] = set()
    waiting = [tuple(_imported(tree))]
    while waiting:
        for module in waiting.pop():
            for file in _files(folder, module):
                if file in seen:
                    continue
                seen.add(file)
                beside = _glance(file)
                if beside is None or beside.registers:
                    return True
                waiting.append(beside.imported)
    return False


def _files(folder: Path, module: str) -> list[Path]:
    place = folder.joinpath(*module.split("."))
    return [file for file in (place.with_suffix(".py"), place / "__init__.py") if file.is_file()]


def _seems_to_register(tree: ast.Module) -> bool:
    return any(isinstance(node, ast.Attribute) and node.attr in _REGISTERING for node in ast.walk(tree))


def _imported(tree: ast.Module) -> Iterator[str]:
    """The modules that a text imports, and what it takes out of them, which may be modules as well."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)
