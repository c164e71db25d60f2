"""The programs that a pipeline starts: what someone has to know who is asked whether it may."""

from __future__ import annotations

import hashlib
import json
import shlex
from dataclasses import dataclass
from pathlib import Path

from workbench.engine.visible import one_line
from workbench.mcp.launch import plan
from workbench.pipeline.fingerprint import code_files
from workbench.pipeline.project import ServerSource, interpreter, is_shipped

OWN_PYTHON = "ragwb's own Python"


@dataclass(frozen=True, eq=False)
class Start:
    """One program. ``files`` are those of its code, each with its hash; ``key`` is what it is known by.

    The key covers the command, the folder and the environment, and not the code: a server that is edited is still
    the same one. ragwb's own interpreter counts as itself wherever it is installed.
    """

    alias: str
    command: tuple[str, ...]
    folder: Path
    environment: tuple[str, ...]
    files: dict[str, str]
    key: str
    is_shipped: bool
    is_python: bool

    @property
    def words(self) -> str:
        """The command as it would be typed, safe to show."""
        return one_line(shlex.join(self.command))

    @property
    def python(self) -> str:
        """What runs a Python server."""
        return OWN_PYTHON if self.command[0] == interpreter() else one_line(self.command[0])


def start_of(source: ServerSource) -> Start:
    """How the server behind a source is started."""
    launch = plan(source)
    command = (OWN_PYTHON, *launch.command[1:]) if launch.command[0] == interpreter() else launch.command
    identity = json.dumps([command, str(launch.folder), sorted(source.env.items())])
    return Start(
        alias=source.alias,
        command=launch.command,
        folder=launch.folder,
        environment=tuple(sorted(source.env)),
        files=code_files(source),
        key=hashlib.blake2b(identity.encode(), digest_size=16).hexdigest(),
        is_shipped=is_shipped(source),
        is_python=source.script is not None,
    )
