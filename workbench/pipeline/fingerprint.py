"""What a run depends on, as short hashes: to say, when it is gone on with, what has changed since."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from workbench.pipeline.prepare import Prepared
from workbench.pipeline.project import ServerSource


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


def _code(source: ServerSource) -> str:
    """A server's code: all Python files in the folder of its script; of a command, its words."""
    if source.script is None:
        return _hash(" ".join(source.command).encode())
    digest = hashlib.blake2b(digest_size=8)
    for file in sorted(source.script.parent.rglob("*.py")):
        digest.update(str(file.relative_to(source.script.parent)).encode() + b"\0" + _content(file))
    return digest.hexdigest()


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""


def _hash(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=8).hexdigest()
