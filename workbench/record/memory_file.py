"""The memory file: what each visit wrote, as the dialect's reference writes it.

It grows with the run in a temporary file beside its place, always complete JSON, so that what a finished step gave is
on disk before the next one starts; ``complete`` puts a copy in its place.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import os
import re
import shutil
import threading
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from workbench.engine.values import UNSET, Message
from workbench.engine.visit import Visit
from workbench.pipeline.parameters import ParameterSet

UNSET_TEXT = "<UNSET>"
_START, _END = b"[", b"\n]\n"


def benchmark_name(parameters: ParameterSet) -> str:
    """The benchmark's part of the file name: parameter ``benchmark.name`` of the alias ``benchmark``, made safe."""
    found = parameters.of("benchmark").get("benchmark")
    name = found.value.get("name") if found is not None and isinstance(found.value, Mapping) else None
    return re.sub(r"[^\w.-]+", "_", str(name)).strip(".") if name is not None else ""


class MemoryFile:
    """Writes ``output/memory_<benchmark>_<stem>_<time>.json``; never over another file."""

    def __init__(
        self,
        folder: Path,
        stem: str,
        benchmark: str = "",
        *,
        mask: Callable[[str], str] = str,
        warn: Callable[[str], None] | None = None,
        now: Callable[[], datetime] = datetime.now,
    ) -> None:
        self._folder = folder
        self._base = f"memory_{benchmark}_{stem}"
        self._mask = mask
        self._now = now
        self._warn = warn or (lambda message: None)
        self._path: Path | None = None
        self._growing: Path | None = None
        self._entries = 0
        # A cancelled run may complete the file while the last visit is still being written.
        self._lock = threading.Lock()

    async def finished(self, visit: Visit) -> None:
        await asyncio.to_thread(self._append, visit)

    async def complete(self) -> str | None:
        return await asyncio.to_thread(self._publish)

    async def close(self) -> None:
        if self._growing is not None:
            with contextlib.suppress(OSError):
                self._growing.unlink()
            self._growing = None

    def _append(self, visit: Visit) -> None:
        entry = {"step": visit.name, "memory": self._memory(visit)}
        text = json.dumps(entry, indent=2, ensure_ascii=False, default=str)
        body = ("\n" + text).replace("\n", "\n  ").encode("utf-8", "surrogatepass")
        with self._lock, self._open().open("r+b") as file:
            file.seek(-len(_END), os.SEEK_END)
            file.write((b"," if self._entries else b"") + body + _END)
            self._entries += 1

    def _memory(self, visit: Visit) -> dict[str, Any]:
        return {
            f"memory_{name}": self._value(variable.value, visit.name, name) for name, variable in visit.saved.items()
        }

    def _value(self, value: Any, step: str, name: str) -> Any:
        """A value as the file holds it: messages as their text, not set as ``<UNSET>``, NaN and infinities as text."""
        if value is UNSET:
            return UNSET_TEXT
        if isinstance(value, Message):
            return self._mask(value.text)
        if isinstance(value, str):
            return self._mask(value)
        if isinstance(value, list):
            return [self._value(entry, step, name) for entry in value]
        if isinstance(value, dict):
            return {key: self._value(entry, step, name) for key, entry in value.items()}
        if isinstance(value, float) and not math.isfinite(value):
            text = "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
            self._warn(f"{step} gave {text} in {name}; the memory file holds it as a text")
            return text
        return value

    def _open(self) -> Path:
        """The growing file, made with the first visit."""
        if self._growing is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            name = f"{self._base}_{self._now():%Y%m%d_%H%M%S}"
            self._path, self._growing = self._claim(name)
        return self._growing

    def _claim(self, name: str) -> tuple[Path, Path]:
        """A name that no file has yet; the temporary file holds it from now on, also against other processes."""
        for n in range(1, 10_000):
            path = self._folder / f"{name}{f'_{n}' if n > 1 else ''}.json"
            growing = path.with_name(f".{path.name}.growing")
            if path.exists():
                continue
            try:
                with growing.open("xb") as file:
                    file.write(_START + _END)
            except FileExistsError:
                continue
            return path, growing
        raise OSError(f"no free name for {name} in {self._folder}")

    def _publish(self) -> str | None:
        with self._lock:
            growing = self._open()
            assert self._path is not None
            finished = growing.with_suffix(".finished")
            shutil.copyfile(growing, finished)
            os.replace(finished, self._path)
        return str(self._path.resolve())
