"""Wires the rooms together: a debugger with real servers, whose run is kept in a memory file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from workbench.engine.debugger import Debugger
from workbench.engine.events import Emit
from workbench.mcp.hub import ServerHub
from workbench.pipeline.prepare import Prepared
from workbench.record.memory_file import MemoryFile, benchmark_name
from workbench.record.redaction import Redactor

OUTPUT = Path("output")


def make_debugger(prepared: Prepared, emit: Emit, warn: Callable[[str], None]) -> Debugger:
    """A debugger for one pipeline. Secrets are masked in every event before anyone hears of it."""
    redactor = Redactor.of(prepared.parameters)
    emit = redactor.emit(emit)
    hub = ServerHub(prepared.used_sources(), emit)

    def record() -> MemoryFile:
        benchmark = benchmark_name(prepared.parameters)
        return MemoryFile(OUTPUT, prepared.pipeline.stem, benchmark, mask=redactor.text, warn=warn)

    return Debugger(prepared, hub, emit=emit, record=record)
