"""Where things are: the project folder, what ragwb ships, and the source of each server a pipeline names."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal


def shipped_folder() -> Path:
    """The folder that holds the ``servers/``, ``pipelines/`` and ``themes/`` that ragwb ships.

    In a wheel they lie inside the package; in a checkout, beside it.
    """
    package = Path(__file__).resolve().parents[1]
    inside = package / "shipped"
    return inside if inside.is_dir() else package.parent


def project_folder(pipeline: Path) -> Path:
    """The nearest folder above the pipeline that holds ``.ragwb.yaml`` or ``servers/``; else the current one."""
    for folder in pipeline.resolve().parents:
        if (folder / ".ragwb.yaml").is_file() or (folder / "servers").is_dir():
            return folder
    return Path.cwd()


@dataclass(frozen=True)
class ServerSource:
    """Where a server comes from and how its process is started.

    ``script`` is set for a Python server, ``command`` for a mapping with a command of its own.
    ``origin`` says whose it is: the project's, one that ragwb ships, or a command.
    """

    alias: str
    entry: str
    origin: Literal["project", "ragwb", "command"]
    cwd: Path
    script: Path | None = None
    command: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    parameter_file: Path | None = None
    description_file: Path | None = None
    """A ``server.yaml`` beside the server."""
    python: str | None = None
    """The interpreter that the configuration names for it."""
    passed_env: tuple[str, ...] | None = None
    """Patterns of the environment variables it gets beyond the basic ones; None is all."""


def is_shipped(source: ServerSource) -> bool:
    """Whether the server is one of those that ragwb brings along, run as ragwb means it.

    A project may lead to such a server by a way round, and to an interpreter of its own beside it: that is not one.
    """
    ours = source.origin == "ragwb" or source.cwd == shipped_folder()
    return ours and source.script is not None and source.script.is_relative_to(shipped_folder() / "servers")


class ServerNotFound(Exception):
    """The entry under ``servers:`` leads to no server. ``str()`` says where it was looked for."""


def find_server(alias: str, entry: Any, project: Path) -> ServerSource:
    """Find the server behind one entry of ``servers:``.

    Raises ``ServerNotFound`` with every place that was looked at.
    """
    if isinstance(entry, Mapping):
        return _from_mapping(alias, entry, project)
    if not isinstance(entry, str) or not entry.strip():
        raise ServerNotFound(
            f"server {alias!r} must be a folder, a .py file, or a mapping with a command; found {entry!r}"
        )
    if entry.startswith(("http://", "https://")):
        raise ServerNotFound(
            f"server {alias!r} is an address ({entry}); this version starts servers itself: "
            "give a folder, a .py file, or {command: ..., args: [...]}"
        )
    tried: list[Path] = []
    roots: list[tuple[Path, Literal["project", "ragwb"]]] = [
        (project, "project"),
        (shipped_folder(), "ragwb"),
    ]
    for root, origin in roots:
        place = (root / entry).resolve()
        source = _python_source(alias, entry, place, origin, project)
        if source.script is not None and source.script.is_file():
            return source
        if source.script is not None and source.script not in tried:
            tried.append(source.script)
    raise ServerNotFound(f"server {alias!r} not found: no file {' or '.join(map(str, tried))}")


def _python_source(
    alias: str, entry: str, place: Path, origin: Literal["project", "ragwb"], project: Path
) -> ServerSource:
    if place.suffix == ".py":
        folder, script = place.parent, place
    else:
        folder, script = place, place / "src" / f"{place.name}.py"
    parameters, description = folder / "parameter.yaml", folder / "server.yaml"
    return ServerSource(
        alias=alias,
        entry=entry,
        origin=origin,
        cwd=project,
        script=script,
        parameter_file=parameters if parameters.is_file() else None,
        description_file=description if description.is_file() else None,
    )


def _from_mapping(alias: str, entry: Mapping[Any, Any], project: Path) -> ServerSource:
    command, arguments = entry.get("command"), entry.get("args") or []
    if not isinstance(command, str) or not isinstance(arguments, list):
        raise ServerNotFound(f"server {alias!r}: a mapping needs `command` (text) and may have `args` (a list)")
    env = entry.get("env") or {}
    if not isinstance(env, Mapping):
        raise ServerNotFound(f"server {alias!r}: `env` must be a mapping of names to text")
    cwd = entry.get("cwd")
    return ServerSource(
        alias=alias,
        entry=" ".join([command, *map(str, arguments)]),
        origin="command",
        cwd=(project / cwd).resolve() if isinstance(cwd, str) else project,
        command=(command, *map(str, arguments)),
        env={str(name): str(value) for name, value in env.items()},
    )


def interpreter() -> str:
    """The Python that runs servers: ragwb's own."""
    return sys.executable
