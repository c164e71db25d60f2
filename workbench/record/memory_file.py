"""The memory file: what each visit wrote, as the dialect's reference writes it."""

from __future__ import annotations

import asyncio
import json
import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from workbench.engine.pool import Variable, VariablePool
from workbench.engine.timeline import Moment, Timeline
from workbench.engine.values import UNSET, Message
from workbench.pipeline.parameters import ParameterSet

UNSET_TEXT = "<UNSET>"
EDITED_BY_HAND = "edited by hand"
"""Stands as the step of an entry that no step wrote."""


def plain(value: Any) -> Any:
    """A value in JSON's terms, as the memory file holds it: messages as their text, not set as ``<UNSET>``."""
    if value is UNSET:
        return UNSET_TEXT
    if isinstance(value, Message):
        return value.text
    if isinstance(value, list):
        return [plain(entry) for entry in value]
    if isinstance(value, Mapping):
        return {key: plain(entry) for key, entry in value.items()}
    return value


def benchmark_name(parameters: ParameterSet) -> str:
    """The benchmark's part of the file name: parameter ``benchmark.name`` of the alias ``benchmark``, made safe."""
    found = parameters.of("benchmark").get("benchmark")
    name = found.value.get("name") if found is not None and isinstance(found.value, Mapping) else None
    return re.sub(r"[^\w.-]+", "_", str(name)).strip(".") if name is not None else ""


class MemoryFile:
    """Writes ``output/memory_<benchmark>_<stem>_<time>.json``; never over another file. A fork gets its own."""

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
        self._paths: dict[int, Path] = {}

    def check(self) -> None:
        """Raises ``OSError`` where the folder can't be written to, before anything has run."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            probe = self._folder / f".probe.{os.getpid()}"
            probe.touch()
            probe.unlink()
        except OSError as error:
            reason = error.strerror or str(error)
            raise OSError(
                f"the folder {self._folder.absolute()} can't be written to: {reason}; run it from a folder of yours"
            ) from None

    async def write(self, timeline: Timeline) -> str:
        """Write the file of a timeline, in the place of what was written of it before; returns its path.

        What was edited by hand stands between the visits, in entries of its own. Raises ``OSError``.
        """
        return await asyncio.to_thread(self._write, timeline.number, list(timeline.moments))

    def _write(self, timeline: int, moments: Sequence[Moment]) -> str:
        entries: list[dict[str, Any]] = []
        pool = VariablePool()
        for moment in moments:
            edited = {v.name: v for v in moment.before.pool if v.is_edited and pool.get(v.name) is not v}
            if edited:
                entries.append({"step": EDITED_BY_HAND, "memory": self._memory(EDITED_BY_HAND, edited)})
            entries.append({"step": moment.visit.name, "memory": self._memory(moment.visit.name, moment.visit.saved)})
            pool = moment.after
        text = json.dumps(entries, indent=2, ensure_ascii=False, default=str)
        path = self._paths.get(timeline)
        if path is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            path = self._paths[timeline] = self._claim(f"{self._base}_{self._now():%Y%m%d_%H%M%S}")
        growing = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            growing.write_bytes((text + "\n").encode("utf-8", "surrogatepass"))
            os.replace(growing, path)
        except OSError:
            self._take_back(timeline, growing)
            raise
        return str(path.resolve())

    def _take_back(self, timeline: int, growing: Path) -> None:
        """What is half written would keep a full disk full, and an empty file is no run."""
        growing.unlink(missing_ok=True)
        path = self._paths[timeline]
        if path.exists() and not path.stat().st_size:
            path.unlink()
            del self._paths[timeline]

    def _claim(self, name: str) -> Path:
        """A name that no file has yet; an empty file holds it from now on, also against other processes."""
        for n in range(1, 10_000):
            path = self._folder / f"{name}{f'_{n}' if n > 1 else ''}.json"
            try:
                path.touch(exist_ok=False)
            except FileExistsError:
                continue
            return path
        raise OSError(f"no free name for {name} in {self._folder}")

    def _memory(self, step: str, saved: Mapping[str, Variable]) -> dict[str, Any]:
        return {f"memory_{name}": self._value(variable.value, step, name) for name, variable in saved.items()}

    def _value(self, value: Any, step: str, name: str) -> Any:
        """A value as the file holds it: messages as their text, not set as ``<UNSET>``, NaN as text."""
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
