"""How a server's process is started: its command, its environment, forked or plainly."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from msgspec import Struct

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
_BASIC = ("HOME", "LANG", "LC_*", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "USER", "*_PROXY", "*_proxy")
"""What a server gets of the environment in any case."""


class Launch(Struct, frozen=True):
    """All that is needed to start one server."""

    command: tuple[str, ...]
    folder: Path
    env: Mapping[str, str]
    script: Path | None
    forkable: bool


def plan(source: ServerSource) -> Launch:
    """How to start the server."""
    if source.script is None:
        return Launch(source.command, source.cwd, _environment(source, ours=False), None, forkable=False)
    runs_it = _interpreter(source)
    ours = runs_it == interpreter()
    env = _environment(source, ours=ours)
    return Launch(
        command=(runs_it, str(source.script)),
        folder=source.cwd,
        env=env,
        script=source.script,
        forkable=ours and not _differs_at_start(source, env),
    )


def _differs_at_start(source: ServerSource, env: Mapping[str, str]) -> bool:
    """Whether the server needs another environment at its start than the one ragwb itself was started with."""
    passed = {name for name in os.environ if name.startswith(_FIXED_AT_START)}
    return any(name.startswith(_FIXED_AT_START) for name in source.env) or not passed <= env.keys()


def _interpreter(source: ServerSource) -> str:
    """Of a project's own server: the one configured, else a ``.venv`` beside the server or in the project."""
    if source.origin == "ragwb" or source.script is None:
        return interpreter()
    if source.python is not None:
        return source.python
    server = source.script.parent.parent if source.script.parent.name == "src" else source.script.parent
    for folder in (server, source.cwd):
        found = folder / ".venv" / "bin" / "python"
        if found.exists() and found.parent.parent.resolve() != Path(sys.prefix).resolve():
            return str(found)
    return interpreter()


def _environment(source: ServerSource, *, ours: bool) -> dict[str, str]:
    places = {"RAGWB_PROJECT": str(source.cwd), "RAGWB_OUTPUT": str(Path.cwd())}
    env = {**_DEFAULTS, **_passed(source), **_ALWAYS, **places}
    if ours:
        env["PYTHONPATH"] = os.pathsep.join(filter(None, [str(COMPAT_FOLDER), env.get("PYTHONPATH")]))
    return {**env, **source.env}


def _passed(source: ServerSource) -> dict[str, str]:
    """What a server gets of ragwb's own environment."""
    if source.passed_env is None:
        return dict(os.environ)
    patterns = (*_BASIC, *source.passed_env)
    return {name: value for name, value in os.environ.items() if any(fnmatchcase(name, p) for p in patterns)}


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
