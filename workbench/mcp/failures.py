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
_IMPORT_FAILED = re.compile(r"^(?:ModuleNotFoundError|ImportError): ", re.MULTILINE)
_COMES_WITH = {
    "bunx": "Bun",
    "docker": "Docker",
    "node": "Node.js",
    "npx": "Node.js",
    "uv": "uv (https://docs.astral.sh/uv)",
    "uvx": "uv (https://docs.astral.sh/uv)",
}
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
        *(f"  {hint}" for hint in _hints(alias, launch, "\n".join(stderr))),
    ]
    return "\n".join(lines)


def not_found(launch: Launch) -> str:
    """That there is no such command, or no such folder to start it in."""
    if not launch.folder.is_dir():
        return f"its folder does not exist: {launch.folder}"
    command = launch.command[0]
    if "/" in command:
        return f"there is no file {command} (looked at from {launch.folder})"
    comes_with = _COMES_WITH.get(command)
    hint = f"; it comes with {comes_with}" if comes_with else ""
    return f"there is no command `{command}` on the PATH{hint}\n  PATH:    {launch.env.get('PATH', '')}"


def gone(alias: str, reason: str, stderr: Sequence[str], during: str | None = None) -> str:
    """That a server has ended on its own, in a call or before it."""
    place = f"{alias}.{during}: " if during else ""
    return "\n".join([f"{place}server {alias!r} is gone: {reason}", *_last_lines(stderr)])


def _last_lines(stderr: Sequence[str]) -> list[str]:
    shown = list(stderr)[-SHOWN_LINES:]
    return ["  stderr:", *(f"    {line}" for line in shown)] if shown else []


def _hints(alias: str, launch: Launch, stderr: str) -> list[str]:
    if launch.script is not None and _IMPORT_FAILED.search(stderr):
        return [*_what_is_missing(launch, stderr), _another_python(alias, launch)]
    return _what_is_missing(launch, stderr)


def _another_python(alias: str, launch: Launch) -> str:
    return (
        f"It ran under {launch.command[0]}. Another Python for it: a .venv beside the server or in the project folder, "
        f"or `servers: {{{alias}: {{python: PATH}}}}` in .ragwb.yaml."
    )


def _what_is_missing(launch: Launch, stderr: str) -> list[str]:
    if _OPENAI.search(stderr):
        return [
            "This server needs openai 2.x, and ragwb has 3.x: give it a .venv of its own "
            "(`uv venv`, then `uv pip install 'openai<3'` and whatever it imports)."
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
