"""Everything that happens, as facts: what ``--events`` prints, the session keeps and every front end hears."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal

SCHEMA_VERSION = 1


@dataclass(frozen=True, kw_only=True)
class Event:
    """A fact. Subclasses set ``type``; ``body()`` gives its JSON fields."""

    type: ClassVar[str]

    def body(self) -> dict[str, Any]:
        """The fields as JSON values; empty ones are left out."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return {name: _plain(value) for name, value in values.items() if value is not None}


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, tuple):
        return [_plain(entry) for entry in value]
    return value


Emit = Callable[[Event], None]


# ---- servers


@dataclass(frozen=True, kw_only=True)
class ServerStarting(Event):
    type: ClassVar[str] = "server_starting"
    server: str
    command: tuple[str, ...]
    folder: str


@dataclass(frozen=True, kw_only=True)
class ServerReady(Event):
    type: ClassVar[str] = "server_ready"
    server: str
    seconds: float
    pid: int | None = None
    tools: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ServerInitialised(Event):
    """A server that was started anew was called again by these, its earlier calls without outputs."""

    type: ClassVar[str] = "server_initialised"
    server: str
    calls: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class ServerFailed(Event):
    type: ClassVar[str] = "server_failed"
    server: str
    message: str


@dataclass(frozen=True, kw_only=True)
class ServerExited(Event):
    type: ClassVar[str] = "server_exited"
    server: str
    code: int | None


@dataclass(frozen=True, kw_only=True)
class ServerOutput(Event):
    """A line on stderr, or a stray line on stdout, which belongs to the protocol alone."""

    type: ClassVar[str] = "server_output"
    server: str
    stream: Literal["stderr", "stdout"]
    text: str
    visit: int | None = None


@dataclass(frozen=True, kw_only=True)
class ServerAsked(Event):
    """A server asks something while it works, and waits. ``number`` counts a server's questions from 1."""

    type: ClassVar[str] = "server_asked"
    server: str
    number: int
    kind: Literal["elicitation", "sampling"]
    message: str
    request: Mapping[str, Any]
    visit: int | None = None


@dataclass(frozen=True, kw_only=True)
class ServerAnswered(Event):
    """What the server was answered; ``reason`` says why it was refused.

    ``content`` is what was accepted: a form's values, a model's answer.
    """

    type: ClassVar[str] = "server_answered"
    server: str
    number: int
    kind: Literal["elicitation", "sampling"]
    action: Literal["accept", "decline", "cancel"]
    reason: str = ""
    content: Any = None
    visit: int | None = None


@dataclass(frozen=True, kw_only=True)
class WireMessage(Event):
    """One JSON-RPC message as it was on the wire. ``started`` is when its first byte came (Unix seconds)."""

    type: ClassVar[str] = "message"
    server: str
    way: Literal["sent", "received"]
    started: float
    at: float
    size: int
    line: bytes
    method: str | None = None
    id: int | str | None = None
    visit: int | None = None


# ---- the run


@dataclass(frozen=True, kw_only=True)
class SessionStarted(Event):
    type: ClassVar[str] = "session_started"
    pipeline: str
    servers: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class VisitEvent(Event):
    """What the events of a visit share: where it is. ``round`` and ``branch`` are outermost first."""

    visit: int
    step: str
    name: str
    round: tuple[int, ...] = ()
    branch: tuple[str, ...] = ()
    items: tuple[int, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class VisitStarted(VisitEvent):
    type: ClassVar[str] = "visit_started"
    attempt: int = 1


@dataclass(frozen=True, kw_only=True)
class VisitProgress(VisitEvent):
    type: ClassVar[str] = "visit_progress"
    progress: float = 0
    total: float | None = None
    message: str | None = None


@dataclass(frozen=True, kw_only=True)
class VisitFinished(VisitEvent):
    type: ClassVar[str] = "visit_finished"
    attempt: int = 1
    seconds: float = 0
    outputs: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    waiting: float | None = None
    server: float | None = None
    transport: float | None = None
    """Where the time went, in seconds (see ``Timing``); None where nothing was called."""
    provenance: Literal["ran", "recorded"] = "ran"
    follows_edit: bool = False


@dataclass(frozen=True, kw_only=True)
class VisitFailed(VisitEvent):
    type: ClassVar[str] = "visit_failed"
    attempt: int = 1
    seconds: float = 0
    error: str = ""


@dataclass(frozen=True, kw_only=True)
class StepSkipped(Event):
    type: ClassVar[str] = "step_skipped"
    step: str
    name: str
    reason: str
    round: tuple[int, ...] = ()
    branch: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class LoopRound(Event):
    type: ClassVar[str] = "loop_round"
    step: str
    round: tuple[int, ...]
    times: int


@dataclass(frozen=True, kw_only=True)
class LoopFinished(Event):
    type: ClassVar[str] = "loop_finished"
    step: str
    rounds: int
    times: int
    reason: str


@dataclass(frozen=True, kw_only=True)
class BranchRouted(Event):
    """``states`` maps each state of the file to the items that took it; ``unrouted`` took none."""

    type: ClassVar[str] = "branch_routed"
    step: str
    states: Mapping[str, tuple[int, ...]]
    round: tuple[int, ...] = ()
    branch: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class VariableWritten(Event):
    type: ClassVar[str] = "variable_written"
    name: str
    visit: int | None
    shape: str
    items: tuple[int, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class LogPrinted(Event):
    """A logpoint was reached, and printed its template."""

    type: ClassVar[str] = "log_printed"
    step: str
    name: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Edited(Event):
    type: ClassVar[str] = "edited"
    what: Literal["variable", "parameter", "input", "state"]
    name: str
    item: int | None = None
    old: Any = None
    new: Any = None


@dataclass(frozen=True, kw_only=True)
class Stopped(Event):
    """The run waits for a command. ``why`` is one sentence; ``step`` is what runs next, or what failed."""

    type: ClassVar[str] = "stopped"
    reason: Literal["entry", "step", "breakpoint", "pause", "failed", "cancelled", "went back", "finished"]
    why: str
    step: str | None = None
    name: str | None = None
    round: tuple[int, ...] = ()
    branch: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Continued(Event):
    type: ClassVar[str] = "continued"
    command: str


@dataclass(frozen=True, kw_only=True)
class WentBack(Event):
    """The cursor went to a checkpoint without anything being run: before ``visit``, or to the end (None).

    ``stateful`` are the servers whose state is not what it was there: what their tools did is not turned back.
    """

    type: ClassVar[str] = "went_back"
    visit: int | None
    timeline: int
    stateful: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Forked(Event):
    """A second timeline began, at the checkpoint before ``parent_visit`` of the timeline ``parent``."""

    type: ClassVar[str] = "forked"
    number: int
    parent: int
    parent_visit: int | None


@dataclass(frozen=True, kw_only=True)
class RecordFailed(Event):
    """Something that should be kept could not be written."""

    type: ClassVar[str] = "record_failed"
    message: str


@dataclass(frozen=True, kw_only=True)
class RunFinished(Event):
    type: ClassVar[str] = "run_finished"
    outcome: Literal["finished", "failed", "interrupted"]
    visits: int
    seconds: float
    memory: str | None = None
