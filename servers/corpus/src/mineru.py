"""MinerU, which recognises text in scans: its command, and what it leaves."""

from __future__ import annotations

import asyncio
import contextlib
import glob
import os
import re
import shutil
import signal
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from fastmcp.exceptions import ToolError

COMMAND = "mineru"
PICTURES = (".jpg", ".jpeg", ".png")
_LINE_END = re.compile(rb"[\r\n]+")
_LONGEST_LINE = 1 << 16
"""Bytes of a line that are kept until it ends."""
_LAST_LINES = 5
"""Of its output, in a message."""


async def run_mineru(
    source: Path, target: Path, extra: Mapping[str, Any], tell: Callable[[str], Awaitable[None]]
) -> None:
    """``mineru -p source -o target``, each line of its output told. Raises ``ToolError`` if it is not there or fails.

    ``extra`` are options: ``{"backend": "pipeline", "lang": "ch"}``; true stands for one without a value.
    """
    program = shutil.which(COMMAND)
    if program is None:
        raise ToolError("mineru_parse needs the command `mineru`, which is not on the PATH: pip install 'mineru[core]'")
    target.mkdir(parents=True, exist_ok=True)  # noqa: ASYNC240 - a local folder
    process = await asyncio.create_subprocess_exec(
        program, "-p", str(source), "-o", str(target), *_options(extra),
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )  # fmt: skip
    last: deque[str] = deque(maxlen=_LAST_LINES)
    try:
        assert process.stdout is not None
        async for text in _lines(process.stdout):
            last.append(text)
            await tell(text)
        code = await process.wait()
    except BaseException:
        _end(process)
        raise
    if code:
        raise ToolError(f"mineru ended with {code}: " + " | ".join(last))


async def _lines(stream: asyncio.StreamReader) -> AsyncIterator[str]:
    """What it says, without blank lines. A progress bar writes one line over and over, each a line here."""
    rest = b""
    while chunk := await stream.read(1 << 16):
        *whole, rest = _LINE_END.split(rest + chunk)
        for line in whole:
            if text := line.decode("utf-8", "replace").strip():
                yield text
        rest = rest[-_LONGEST_LINE:]
    if text := rest.decode("utf-8", "replace").strip():
        yield text


def parsed(folder: Path, stems: Mapping[str, Path]) -> Iterator[tuple[Path, Path | None]]:
    """For each document its Markdown: ``<stem>/<method>/<stem>.md``, newest first; None where there is none."""
    for stem, document in stems.items():
        found = sorted((folder / stem).glob(f"*/{glob.escape(stem)}.md"), key=lambda file: -file.stat().st_mtime)
        yield document, found[0] if found else None


def pictures_of(markdown: Path) -> list[Path]:
    """The pictures that were cut out beside it."""
    folder = markdown.parent / "images"
    return sorted(file for file in folder.glob("*") if file.suffix.lower() in PICTURES) if folder.is_dir() else []


def _options(extra: Mapping[str, Any]) -> Iterator[str]:
    for name, value in extra.items():
        if value is None or value is False:
            continue
        yield f"--{str(name).replace('_', '-')}" if len(str(name)) > 1 else f"-{name}"
        if value is not True:
            yield str(value)


def _end(process: asyncio.subprocess.Process) -> None:
    """It starts others: all of its group end."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
