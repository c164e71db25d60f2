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


def debugger_for(prepared: Prepared, emit: Emit, warn: Callable[[str], None] | None = None) -> Debugger:
    """A debugger with real servers. Secrets are masked in every event before anyone hears of it.

    ``warn`` hears what the memory file can't hold as it is.
    """
    redactor = Redactor.of(prepared.parameters)
    emit = redactor.emit(emit)

    def record() -> MemoryFile:
        benchmark = benchmark_name(prepared.parameters)
        return MemoryFile(OUTPUT, prepared.pipeline.stem, benchmark, mask=redactor.text, warn=warn)

    return Debugger(prepared, ServerHub(prepared.used_sources(), emit), emit=emit, record=record)
