"""What a run depends on, as short hashes: to say, when it is gone on with, what has changed since."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from workbench.pipeline.prepare import Prepared
from workbench.pipeline.project import ServerSource


def fingerprints(prepared: Prepared) -> dict[str, str]:
    """``pipeline``, ``parameters`` and ``server <alias>`` for each server that is used, each with its hash."""
    used = prepared.pipeline.used_aliases()
    values = {alias: {n: p.value for n, p in prepared.parameters.of(alias).items()} for alias in used}
    found = {
        "pipeline": _hash(prepared.pipeline.text.encode()),
        "parameters": _hash(json.dumps(values, sort_keys=True, default=str).encode()),
    }
    return found | {f"server {alias}": _code(prepared.sources[alias]) for alias in used}


def differences(before: dict[str, str], now: dict[str, str]) -> list[str]:
    """The names of what is not as it was."""
    return sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))


def _code(source: ServerSource) -> str:
    """A server's code: all Python files in the folder of its script; of a command or an address, how it is written."""
    if source.script is None:
        return _hash(source.entry.encode())
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
