"""``workbench.open`` and ``workbench.resume``: a debugger in the hands of a program.

A program that opens a pipeline has decided that its servers may run: nobody is asked about them.
"""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from workbench.api.event_stream import EventStream
from workbench.api.resuming import saved_wiring
from workbench.api.wiring import Wiring, recorded_options
from workbench.engine.breakpoint_text import read_breakpoint, read_watch
from workbench.engine.debugger import Debugger
from workbench.engine.events import Event
from workbench.engine.program import Program
from workbench.pipeline.named import named_pipeline
from workbench.pipeline.prepare import prepare

OnEvent = Callable[[Event], None]
Sets = Iterable[str] | Mapping[str, Any]


@asynccontextmanager
async def open(
    pipeline: str | Path,
    *,
    sets: Sets = (),
    param_file: str | Path | None = None,
    mcp_config: str | Path | None = None,
    breakpoints: Iterable[str] = (),
    watches: Iterable[str] = (),
    keeps_session: bool = True,
    folder: str | Path | None = None,
    on_event: OnEvent | None = None,
) -> AsyncIterator[Debugger]:
    """A debugger that stands before the first step of a pipeline, with its servers up.

    They are stopped at the end, whatever happens. ``pipeline``, ``sets`` (``["retriever.top_k=3"]`` or
    ``{"retriever.top_k": 3}``), ``param_file``, ``mcp_config``, ``breakpoints`` and ``watches`` are what ``ragwb open``
    takes; where there may be several, a text is a single one. ``folder`` is where ``output/`` and ``sessions/`` are;
    the current one without it. ``on_event`` hears of everything that happens, on the event loop of the debugger;
    secrets are masked.

    Raises ``PipelineError`` (with every mistake), ``ExpressionError`` for a breakpoint or watch, ``ServerStartFailed``,
    ``OSError`` where the run could not be kept.
    """
    file, _ = named_pipeline(Path(pipeline))
    options = recorded_options(text_of(param_file), assignments(sets), text_of(mcp_config))
    prepared = prepare(file, param_file=text_of(param_file), sets=options["sets"], mcp_config=text_of(mcp_config))
    program = Program.of(prepared.pipeline)
    wiring = Wiring(
        prepared,
        options,
        keeps_session=keeps_session,
        breaks=[read_breakpoint(text, program) for text in lines_of(breakpoints)],
        watches=[read_watch(text) for text in lines_of(watches)],
        **places(folder),
    )
    async with opened(wiring, on_event) as debugger:
        yield debugger


@asynccontextmanager
async def resume(
    session: str | Path, *, starts_servers: bool = True, on_event: OnEvent | None = None
) -> AsyncIterator[Debugger]:
    """A debugger that stands where a session stopped; its breakpoints are there as well.

    Without ``starts_servers`` a server is started when its first step runs: to look at a run, none is needed. What has
    changed since is said by the logger ``ragwb``.

    Raises ``SessionUnreadable``, ``PipelineError``, ``ServerStartFailed``, ``OSError``.
    """
    async with opened(saved_wiring(Path(session)), on_event, starts_servers=starts_servers) as debugger:
        yield debugger


@asynccontextmanager
async def opened(wiring: Wiring, on_event: OnEvent | None, *, starts_servers: bool = True) -> AsyncIterator[Debugger]:
    """The debugger of a wiring, open; closed at the end, whatever happens."""
    try:
        debugger = wiring.debugger(_guarded(on_event))
        try:
            await debugger.open(wait_for_servers=starts_servers, start_servers=starts_servers)
            yield debugger
        finally:
            await debugger.close()
    finally:
        if isinstance(on_event, EventStream):
            on_event.close()


def assignments(sets: Sets) -> list[str]:
    """Parameters as ``--set`` takes them."""
    if isinstance(sets, Mapping):
        return [f"{name}={json.dumps(value, default=str)}" for name, value in sets.items()]
    return lines_of(sets)


def lines_of(texts: Iterable[str]) -> list[str]:
    """Texts that were given; a single one is one of them, and not its letters."""
    return [texts] if isinstance(texts, str) else list(texts)


def places(folder: str | Path | None) -> dict[str, Any]:
    """What a wiring needs to know so that everything is written below a folder."""
    if folder is None:
        return {}
    here = Path(folder).resolve()
    return {"folder": here, "env": {"RAGWB_OUTPUT": str(here)}}


def text_of(path: str | Path | None) -> str | None:
    return str(path) if path is not None else None


def _guarded(on_event: OnEvent | None) -> OnEvent:
    """What the program does with an event must not stop a step half-way: its errors are logged."""

    def tell(event: Event) -> None:
        try:
            if on_event is not None:
                on_event(event)
        except Exception:
            logging.getLogger("ragwb").exception("on_event failed at %s", event.type)

    return tell
