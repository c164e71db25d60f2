"""Where things are: the project folder, what ragwb ships, and the source of each server a pipeline names."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from msgspec import Struct, field

from workbench.pipeline.problems import close_names, did_you_mean


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
        if os.path.lexists(folder / ".ragwb.yaml") or (folder / "servers").is_dir():
            return folder
    return Path.cwd()


Transport = Literal["auto", "http", "sse"]
"""Of an address: streamable HTTP, the older HTTP+SSE, or the first of the two that works."""


class RemoteAddress(Struct, frozen=True):
    """A server that runs elsewhere. Its headers go to no other server."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    transport: Transport = "auto"

    def __repr__(self) -> str:
        """Without what may be secret."""
        return f"RemoteAddress({self.transport!r})"


class ServerSource(Struct, frozen=True):
    """Where a server comes from and how its process is started, or where it is reached.

    ``script`` is set for a Python server, ``command`` for a mapping with a command of its own, ``address`` for one
    that runs elsewhere. ``origin`` says whose it is: the project's, one that ragwb ships, a command, or an address.
    ``entry`` is how it is written, with ``${NAME}`` as it is; ``secrets`` must not be shown anywhere.
    """

    alias: str
    entry: str
    origin: Literal["project", "ragwb", "command", "address"]
    cwd: Path
    script: Path | None = None
    command: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    address: RemoteAddress | None = None
    secrets: frozenset[str] = frozenset()
    parameter_file: Path | None = None
    description_file: Path | None = None
    """A ``server.yaml`` beside the server."""
    python: str | None = None
    """The interpreter that the configuration names for it."""
    passed_env: tuple[str, ...] | None = None
    """Patterns of the environment variables it gets beyond the basic ones; None is all."""

    def __repr__(self) -> str:
        """Without what may be secret."""
        return f"ServerSource({self.alias!r}, {self.entry!r}, {self.origin!r})"


def is_shipped(source: ServerSource) -> bool:
    """Whether the server is one of those that ragwb brings along, run as ragwb means it.

    A project may lead to such a server by a way round, and to an interpreter of its own beside it: that is not one.
    """
    ours = source.origin == "ragwb" or source.cwd == shipped_folder()
    return ours and source.script is not None and source.script.is_relative_to(shipped_folder() / "servers")


class ServerNotFound(Exception):
    """The entry under ``servers:`` leads to no server. ``str()`` says where it was looked for.

    ``key`` is the path of the part that is wrong, where it is a map: ``headers.Authorization``, ``args.0``.
    """

    def __init__(self, message: str, key: str = "") -> None:
        super().__init__(message)
        self.key = key


def find_server(alias: str, entry: str, project: Path) -> ServerSource:
    """Find the Python server that a folder or a file names: the project's own, else one that ragwb ships.

    Raises ``ServerNotFound`` with every place that was looked at.
    """
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
    there = [f"servers/{folder.name}" for root, _ in roots for folder in (root / "servers").glob("*/")]
    close = close_names(entry, there)
    raise ServerNotFound(
        f"server {alias!r} not found: no file {' or '.join(map(str, tried))}{did_you_mean(close) if close else ''}"
    )


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


def interpreter() -> str:
    """The Python that runs servers: ragwb's own."""
    return sys.executable
