"""Whether a text fits a pattern that a stranger wrote."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys

_SECONDS = 2.0
_FITS, _DOES_NOT_FIT = 0, 1
_CODE = """
import json, re, sys
pattern, text = json.load(sys.stdin)
try:
    sys.exit(0 if re.search(pattern, text) else 1)
except (re.error, RecursionError, OverflowError):
    sys.exit(2)
"""


async def fits(pattern: str, text: str) -> bool:
    """False where it does not fit; what can't be found out is left for the server to judge.

    In a process of its own, since a pattern may take for ever, and holds up every thread while it does.
    """
    return await asyncio.to_thread(_ended_with, pattern, text) != _DOES_NOT_FIT


def _ended_with(pattern: str, text: str) -> int:
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _CODE],
            input=json.dumps([pattern, text]).encode(),
            stderr=subprocess.DEVNULL,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return _FITS
    return done.returncode
