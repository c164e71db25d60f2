"""ragwb: a debugger for RAG pipelines that lives in the terminal.

For programs there are ``open``, ``resume`` and ``replay``, which give a ``Debugger``, and the errors that they raise;
each is loaded when it is first asked for. ``docs/python.md`` is their tutorial.
"""

from __future__ import annotations

from typing import Any

__version__ = "0.1.0"

_PLACES = {
    "open": "api.sessions",
    "resume": "api.sessions",
    "replay": "api.going_live",
    "NotLive": "api.going_live",
    "EventStream": "api.event_stream",
    "Run": "api.finished_run",
    "StepFailed": "api.finished_run",
    "Debugger": "engine.debugger",
    "Event": "engine.events",
    "Breakpoint": "engine.breakpoints",
    "Watch": "engine.breakpoints",
    "ExpressionError": "engine.expressions",
    "ServerStartFailed": "engine.ports",
    "CommandRefused": "engine.state",
    "PipelineError": "pipeline.problems",
    "RunUnreadable": "cases.saved_run",
    "SessionUnreadable": "record.session_reader",
    "ultrarag_path": "ultrarag",
}
"""What a program may take from here, and the module below this one that has it; ``__init__.pyi`` tells type checkers.

It is a file of its own so that the rooms, which take the version from here, don't seem to import one another.
"""


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f"{__name__}.{_PLACES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_PLACES})
