"""How a server's process is started: its command, its environment, forked or plainly."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from workbench.mcp.fork_client import ForkServer, ForkServerGone, can_fork
from workbench.mcp.process import Guard, ServerProcess, start_plainly
from workbench.pipeline.project import ServerSource, interpreter

COMPAT_FOLDER = Path(__file__).with_name("compat")

_DEFAULTS = {
    "log_level": "warn",
    "FASTMCP_LOG_LEVEL": "WARNING",
    "FASTMCP_SHOW_SERVER_BANNER": "false",
    "FASTMCP_CHECK_FOR_UPDATES": "off",
    "FASTMCP_ENABLE_RICH_LOGGING": "false",
}
_ALWAYS = {"PYTHONUNBUFFERED": "1", "PYTHONIOENCODING": "utf-8"}
_FIXED_AT_START = ("PYTHON", "FASTMCP_", "PYDANTIC_", "LD_", "MALLOC_", "LANG", "LC_")
"""What a process reads once, when it starts: a forked one has the parent's."""


@dataclass(frozen=True)
class Launch:
    """All that is needed to start one server."""

    command: tuple[str, ...]
    folder: Path
    env: Mapping[str, str]
    script: Path | None
    forkable: bool


def plan(source: ServerSource, python: str | None = None) -> Launch:
    """How to start the server; ``python``, if given, runs the project's Python servers."""
    if source.script is None:
        return Launch(source.command, source.cwd, _environment(source, ours=False), None, forkable=False)
    runs_it = _interpreter(source, python)
    ours = runs_it == interpreter()
    return Launch(
        command=(runs_it, str(source.script)),
        folder=source.cwd,
        env=_environment(source, ours=ours),
        script=source.script,
        forkable=ours and not any(name.startswith(_FIXED_AT_START) for name in source.env),
    )


def _interpreter(source: ServerSource, python: str | None) -> str:
    """Of a project's own server: the one given, else a ``.venv`` beside the server or in the project."""
    if source.origin == "ragwb" or source.script is None:
        return interpreter()
    if python is not None:
        return python
    server = source.script.parent.parent if source.script.parent.name == "src" else source.script.parent
    for folder in (server, source.cwd):
        found = folder / ".venv" / "bin" / "python"
        if found.exists() and found.parent.parent.resolve() != Path(sys.prefix).resolve():
            return str(found)
    return interpreter()


def _environment(source: ServerSource, *, ours: bool) -> dict[str, str]:
    places = {"RAGWB_PROJECT": str(source.cwd), "RAGWB_OUTPUT": str(Path.cwd())}
    env = {**_DEFAULTS, **os.environ, **_ALWAYS, **places}
    if ours:
        env["PYTHONPATH"] = os.pathsep.join(filter(None, [str(COMPAT_FOLDER), os.environ.get("PYTHONPATH")]))
    return {**env, **source.env}


class Launcher:
    """Starts processes. Keeps the forking parent and the guard that end them if ragwb dies."""

    def __init__(self) -> None:
        self._guard = Guard()
        self._forks: ForkServer | None = None

    def prepare(self, launches: list[Launch]) -> None:
        """Start the forking parent if it pays: for a single server a plain start is faster."""
        forkable = [launch for launch in launches if launch.forkable]
        if len(forkable) > 1 and can_fork() and (self._forks is None or not self._forks.alive):
            with contextlib.suppress(OSError):
                self._forks = ForkServer(forkable[0].env)

    async def start(self, launch: Launch) -> ServerProcess:
        """Start a server. Raises ``OSError`` if its command or folder does not exist."""
        if launch.forkable and launch.script is not None and self._forks is not None and self._forks.alive:
            with contextlib.suppress(ForkServerGone):
                return await self._forks.spawn(launch.script, launch.command[2:], launch.folder, launch.env)
        return start_plainly(launch.command, launch.folder, launch.env, self._guard)

    def close(self) -> None:
        """End the forking parent and the guard, and with them whatever is left."""
        if self._forks is not None:
            self._forks.close()
            self._forks = None
        self._guard.close()
