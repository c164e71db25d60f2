"""What a pipeline starts or reaches: what someone has to know who is asked whether it may."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from msgspec import Struct

from workbench.engine.visible import one_line
from workbench.mcp.launch import plan
from workbench.pipeline.fingerprint import code_files
from workbench.pipeline.prepare import Prepared
from workbench.pipeline.project import ServerSource, interpreter, is_shipped
from workbench.pipeline.secrets import secrets_of_environment

OWN_PYTHON = "ragwb's own Python"
_FROM_ENVIRONMENT = re.compile(r"\$\{([A-Za-z_]\w*)\}")


class Start(Struct, frozen=True, eq=False):
    """One server. ``files`` are those of its code, each with its hash; ``key`` is what it is known by.

    The key covers how the server is written, what is run and where, and what it is given, and not the code: a server
    that is edited is still the same one. ragwb's own interpreter counts as itself wherever it is installed. In what a
    server is given, a secret of the user's own environment counts as any other: tokens are renewed. In the words of a
    command nothing does: they say what is run. A command is shown as it is written, with its ``${NAME}``.
    """

    alias: str
    words: str
    """The command as it would be typed, or the address."""
    program: str
    """What is run; empty for an address."""
    folder: Path
    gives: tuple[str, ...]
    """The names of what the pipeline gives it: environment variables, headers."""
    from_environment: tuple[str, ...]
    """The variables of the user's environment that are put into its command, environment, address or headers."""
    from_project: tuple[str, ...]
    """Those that the project's own ``.env`` gives."""
    files: dict[str, str]
    key: str
    is_shipped: bool
    is_python: bool

    @property
    def kind(self) -> str:
        if self.is_python:
            by = OWN_PYTHON if self.program == interpreter() else one_line(self.program)
            return f"a Python server, run by {by}"
        return "a command" if self.program else "an address, where what its steps take is sent"


def starts_of(prepared: Prepared, sources: Iterable[ServerSource]) -> list[Start]:
    """How each of these servers is started or reached."""
    servers = prepared.pipeline.servers
    return [_start(source, servers[source.alias].value) for source in sources]


def _start(source: ServerSource, written: Any) -> Start:
    own_secrets = sorted(secrets_of_environment(), key=len, reverse=True)
    command = plan(source).command if source.address is None else ()
    given = source.env if source.address is None else source.address.headers
    words = shlex.join(command) if source.script is not None else source.entry
    text = json.dumps(written, default=str)
    program = command[0] if command else ""
    runs = [OWN_PYTHON if program == interpreter() else program, *command[1:]]
    sent = json.dumps([source.address.url if source.address is not None else "", dict(sorted(given.items()))])
    for secret in own_secrets:
        sent = sent.replace(json.dumps(secret)[1:-1], "…")
    identity = json.dumps([runs, sent, text, str(source.cwd)])
    names = sorted(set(_FROM_ENVIRONMENT.findall(text)))
    return Start(
        alias=source.alias,
        words=one_line(words),
        program=program,
        folder=source.cwd,
        gives=tuple(sorted(given)),
        from_environment=tuple(name for name in names if name in os.environ),
        from_project=tuple(name for name in names if name not in os.environ),
        files=code_files(source),
        key=hashlib.blake2b(identity.encode(), digest_size=16).hexdigest(),
        is_shipped=is_shipped(source),
        is_python=source.script is not None,
    )
