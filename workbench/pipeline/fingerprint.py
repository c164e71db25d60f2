"""What a run depends on, as short hashes: to say, when it is gone on with, what has changed since."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from workbench.pipeline.prepare import Prepared
from workbench.pipeline.project import ServerSource

_INSTALLED = {"site-packages", "node_modules", "__pycache__"}
_PROGRAMS = {".py", ".js", ".mjs", ".cjs", ".ts", ".sh", ".rb", ".pl", ".jar"}
"""What a command may be given to run; other files that it names, a database for one, change with every run."""


def fingerprints(prepared: Prepared) -> dict[str, str]:
    """``pipeline``, and ``parameters of <alias>`` and ``server <alias>`` for each that is used, each with its hash."""
    found = {"pipeline": _hash(prepared.pipeline.text.encode())}
    for alias in prepared.pipeline.used_aliases():
        values = {name: parameter.value for name, parameter in prepared.parameters.of(alias).items()}
        found[f"parameters of {alias}"] = _hash(json.dumps(values, sort_keys=True, default=str).encode())
        found[f"server {alias}"] = _code(prepared.sources[alias])
    return found


def differences(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """The names of what is not as it was."""
    return sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))


def code_files(source: ServerSource) -> dict[str, str]:
    """The files of a server's code, each with its hash, by their names below the folder they are in.

    All Python files around its script, but for installed packages; of a command, the programs below its folder that
    the command names.
    """
    folder = source.cwd if source.script is None else source.script.parent
    return {str(file.relative_to(folder)): _hash(_content(file)) for file in source_files(source)}


def source_files(source: ServerSource) -> list[Path]:
    """The files of a server's code."""
    if source.script is None:
        return list(_named_programs(source))
    return sorted(_python_files(source.script.parent))


def _python_files(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".") and name not in _INSTALLED]
        yield from (Path(place, name) for name in names if name.endswith(".py"))


def _named_programs(source: ServerSource) -> Iterator[Path]:
    for number, word in enumerate(source.command):
        if (number == 0 or Path(word).suffix in {"", *_PROGRAMS}) and "\0" not in word:
            try:
                file = (source.cwd / word).resolve()
                is_program = file.is_relative_to(source.cwd) and file.is_file()
            except (OSError, RuntimeError):  # too long for a name of a file, or links that lead in a circle
                continue
            if is_program:
                yield file


def _code(source: ServerSource) -> str:
    """A server's code; of a command or an address, how it is written, without what ``${NAME}`` stands for."""
    written = source.entry if source.script is None else ""
    content = {"written": written, "files": code_files(source)}
    return _hash(json.dumps(content, sort_keys=True).encode())


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes() if file.is_file() else b""  # a pipe would never end
    except OSError:
        return b""


def _hash(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=8).hexdigest()
