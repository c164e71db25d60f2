"""What the user reads when a server does not start or ends on its own: one message with the way out."""

from __future__ import annotations

import re
import shlex
import signal
from collections.abc import Sequence
from pathlib import Path

from workbench.mcp.launch import Launch

SHOWN_LINES = 15

_NO_MODULE = re.compile(r"No module named '([\w.]+)'")
_OPENAI = re.compile(
    r"(?:No module named 'openai\.|cannot import name '\w+' from (?:partially initialized module )?'openai)"
)
_PACKAGES = {
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python",
    "dotenv": "python-dotenv",
    "faiss": "faiss-cpu",
    "fitz": "pymupdf",
    "PIL": "pillow",
    "rank_bm25": "rank-bm25",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
}
"""Packages whose name is not that of their module."""


def ending(code: int | None) -> str:
    """An exit code in words; negative ones are signals."""
    if code is None:
        return "it closed its standard output, though its process has not ended"
    if code < 0:
        name = signal.Signals(-code).name if -code in signal.Signals.__members__.values() else str(-code)
        return f"its process was ended by {name}"
    return f"its process ended with exit code {code}"


def start_failed(alias: str, launch: Launch, reason: str, stderr: Sequence[str]) -> str:
    """Why a server could not be started: command, reason, last lines of stderr, and what to do."""
    lines = [
        f"server {alias!r} could not be started: {reason}",
        f"  command: {shlex.join(launch.command)}",
        f"  folder:  {launch.folder}",
        *_last_lines(stderr),
        *(f"  {hint}" for hint in _hints(launch, "\n".join(stderr))),
    ]
    return "\n".join(lines)


def gone(alias: str, reason: str, stderr: Sequence[str], during: str | None = None) -> str:
    """That a server has ended on its own, in a call or before it."""
    place = f"{alias}.{during}: " if during else ""
    return "\n".join([f"{place}server {alias!r} is gone: {reason}", *_last_lines(stderr)])


def _last_lines(stderr: Sequence[str]) -> list[str]:
    shown = list(stderr)[-SHOWN_LINES:]
    return ["  stderr:", *(f"    {line}" for line in shown)] if shown else []


def _hints(launch: Launch, stderr: str) -> list[str]:
    if _OPENAI.search(stderr):
        return [
            "This server needs openai 2.x, and ragwb has 3.x: give it a .venv of its own, beside the server "
            "or in the project folder (`uv venv`, then `uv pip install 'openai<3'` and whatever it imports)."
        ]
    missing = _NO_MODULE.findall(stderr)
    if not missing or "python" not in Path(launch.command[0]).name:
        return []
    module = missing[-1].split(".")[0]
    package, python = _PACKAGES.get(module, module), shlex.quote(launch.command[0])
    return [
        f"The Python package of module {module!r} is missing. Install it for this interpreter: "
        f"`uv pip install --python {python} {package}` or `{python} -m pip install {package}`"
    ]
