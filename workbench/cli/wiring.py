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


class Wiring:
    """The parts of one session. Secrets are masked in every event before anyone hears of it."""

    def __init__(self, prepared: Prepared) -> None:
        self.prepared = prepared
        self.redactor = Redactor.of(prepared.parameters)

    def debugger(self, emit: Emit, warn: Callable[[str], None] | None = None) -> Debugger:
        """A debugger with real servers; ``warn`` hears what the memory file can't hold as it is."""
        emit = self.redactor.emit(emit)
        return Debugger(self.prepared, self.tools(emit), emit=emit, record=lambda: self.record(warn))

    def tools(self, emit: Emit) -> ServerHub:
        return ServerHub(self.prepared.used_sources(), emit)

    def record(self, warn: Callable[[str], None] | None = None) -> MemoryFile:
        benchmark = benchmark_name(self.prepared.parameters)
        return MemoryFile(OUTPUT, self.prepared.pipeline.stem, benchmark, mask=self.redactor.text, warn=warn)
