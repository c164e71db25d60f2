"""ragwb: a debugger for RAG pipelines that lives in the terminal.

For programs there are ``open`` and ``resume``, which give a ``Debugger``, and the errors that they raise; each is
loaded when it is first asked for. ``docs/python.md`` is their tutorial.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.api.event_stream import EventStream as EventStream
    from workbench.api.finished_run import Run as Run
    from workbench.api.finished_run import StepFailed as StepFailed
    from workbench.api.library import open as open
    from workbench.api.library import resume as resume
    from workbench.engine.breakpoints import Breakpoint as Breakpoint
    from workbench.engine.breakpoints import Watch as Watch
    from workbench.engine.debugger import Debugger as Debugger
    from workbench.engine.events import Event as Event
    from workbench.engine.expressions import ExpressionError as ExpressionError
    from workbench.engine.ports import ServerStartFailed as ServerStartFailed
    from workbench.engine.state import CommandRefused as CommandRefused
    from workbench.pipeline.problems import PipelineError as PipelineError
    from workbench.record.session_reader import SessionUnreadable as SessionUnreadable
    from workbench.ultrarag import ultrarag_path as ultrarag_path

__version__ = "0.1.0"

_PLACES = {
    "open": "api.library",
    "resume": "api.library",
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
    "SessionUnreadable": "record.session_reader",
    "ultrarag_path": "ultrarag",
}
"""What a program may take from here, and the module below this one that has it."""


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f"{__name__}.{_PLACES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_PLACES})
