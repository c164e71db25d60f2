"""Everything that happens, as facts: what ``--events`` prints, the session keeps and every front end hears.

``docs/events.md`` and ``docs/events.schema.json`` are made of this file (``docs/make_events.py``): a class's text says
when the event is told, a field's text what it holds. A field that is None is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal

from msgspec import Struct
from msgspec.structs import asdict

SCHEMA_VERSION = 1


class Event(Struct, frozen=True, kw_only=True):
    """A fact. Subclasses set ``type``; ``body()`` gives its JSON fields.

    A ``Struct`` and no dataclass, as all such classes here: each of those takes a third of a millisecond to make, and
    a hundred and fifty would be a seventh of what is loaded before the first picture.
    """

    type: ClassVar[str]

    def body(self) -> dict[str, Any]:
        """The fields as JSON values; empty ones are left out."""
        return {name: _plain(value) for name, value in asdict(self).items() if value is not None}


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, tuple):
        return [_plain(entry) for entry in value]
    return value


Emit = Callable[[Event], None]


# ---- servers


class ServerEvent(Event, frozen=True, kw_only=True):
    """What the events of a server share."""

    server: str
    """The server's name in the pipeline."""


class ServerStarting(ServerEvent, frozen=True, kw_only=True):
    """A server is being started, or an address connected to."""

    type: ClassVar[str] = "server_starting"
    command: tuple[str, ...]
    """The command and its arguments; of an address the URL."""
    folder: str
    """The folder it works in; empty for an address."""


class ServerReady(ServerEvent, frozen=True, kw_only=True):
    """A server is up and has told what it offers."""

    type: ClassVar[str] = "server_ready"
    seconds: float
    """How long the start took."""
    pid: int | None = None
    """The number of its process; none for an address."""
    tools: tuple[str, ...] = ()
    """The names of its tools and prompts."""


class ServerInitialised(ServerEvent, frozen=True, kw_only=True):
    """A server that was started anew was given its earlier calls without outputs again."""

    type: ClassVar[str] = "server_initialised"
    calls: tuple[str, ...]
    """The names of the steps that were repeated, in order."""


class ServerFailed(ServerEvent, frozen=True, kw_only=True):
    """A server could not be started."""

    type: ClassVar[str] = "server_failed"
    message: str
    """Its command, its exit code and its last lines of stderr, for someone to read."""


class ServerExited(ServerEvent, frozen=True, kw_only=True):
    """A server's process ended: because it was stopped, or by itself."""

    type: ClassVar[str] = "server_exited"
    code: int | None
    """Its exit code, negative for a signal; none where it is not known."""


class ServerOutput(ServerEvent, frozen=True, kw_only=True):
    """A server wrote a line to stderr, or a stray line to stdout, which belongs to the protocol alone."""

    type: ClassVar[str] = "server_output"
    stream: Literal["stderr", "stdout"]
    """Where it was written."""
    text: str
    """The line, without its end."""
    visit: int | None = None
    """The visit that was running in the server."""


class ServerAsked(ServerEvent, frozen=True, kw_only=True):
    """A server asks something while it works, and waits for the answer."""

    type: ClassVar[str] = "server_asked"
    number: int
    """Counts a server's questions from 1."""
    kind: Literal["elicitation", "sampling"]
    """Whether the user is to fill in a form, or a model to answer."""
    message: str
    """What it asks, in its words."""
    request: Mapping[str, Any]
    """All that it sent, as in MCP."""
    visit: int | None = None
    """The visit that was running in the server."""


class ServerAnswered(ServerEvent, frozen=True, kw_only=True):
    """A server's question was answered, or refused."""

    type: ClassVar[str] = "server_answered"
    number: int
    """The number of the question."""
    kind: Literal["elicitation", "sampling"]
    """The kind of the question."""
    action: Literal["accept", "decline", "cancel"]
    """What it was answered, as in MCP."""
    reason: str = ""
    """Why it was refused; empty where it was not."""
    content: Any = None
    """What was accepted: a form's values, a model's answer."""
    visit: int | None = None
    """The visit that was running in the server."""


class WireMessage(ServerEvent, frozen=True, kw_only=True):
    """One JSON-RPC message went over the wire."""

    type: ClassVar[str] = "message"
    way: Literal["sent", "received"]
    """Seen from ragwb."""
    started: float
    """When its first byte came (Unix seconds)."""
    at: float
    """When its last byte came (Unix seconds)."""
    size: int
    """Its length in bytes."""
    line: bytes
    """The message as it was on the wire; bytes that are no UTF-8 are replaced, secrets masked."""
    method: str | None = None
    """Its method; none for an answer."""
    id: int | str | None = None
    """Its JSON-RPC id, which an answer shares with its request; none for a notification."""
    visit: int | None = None
    """The visit whose call it belongs to."""


# ---- the run


class SessionStarted(Event, frozen=True, kw_only=True):
    """A run begins, or a session is gone on with."""

    type: ClassVar[str] = "session_started"
    pipeline: str
    """The pipeline's file."""
    servers: tuple[str, ...]
    """The servers that its steps use."""


class StepEvent(Event, frozen=True, kw_only=True):
    """What the events of a step share: where it is."""

    step: str
    """The step's path: `4.2` is the second step of the block that is step 4."""
    name: str
    """The step's name, `server.tool`, or `loop` or `branch`."""
    round: tuple[int, ...] = ()
    """The rounds of the loops around it, outermost first, counted from 1."""
    branch: tuple[str, ...] = ()
    """The states of the branches around it, outermost first."""


class VisitEvent(StepEvent, frozen=True, kw_only=True):
    """What the events of a visit share. A visit is one execution of a step."""

    visit: int
    """The visit's number, unique in the session."""
    attempt: int = 1
    """Counts the tries of this visit from 1: one that failed keeps its number when it is tried again."""
    items: tuple[int, ...] | None = None
    """The items that it is about, counted from 0; none where it is about no items, or they are not known yet."""


class VisitStarted(VisitEvent, frozen=True, kw_only=True):
    """A visit's inputs are known, and its tool is called (or answered from the recording)."""

    type: ClassVar[str] = "visit_started"


class VisitProgress(VisitEvent, frozen=True, kw_only=True):
    """The tool told how far it is."""

    type: ClassVar[str] = "visit_progress"
    progress: float = 0
    """How far, in the tool's own measure."""
    total: float | None = None
    """How far it will go, if the tool told."""
    message: str | None = None
    """What it said; a token of an answer, where a model streams."""


class VisitFinished(VisitEvent, frozen=True, kw_only=True):
    """A visit is done, and on disk. Its `variable_written` come before it."""

    type: ClassVar[str] = "visit_finished"
    seconds: float = 0
    """How long it took in all."""
    outputs: tuple[str, ...] = ()
    """The variables that it wrote."""
    failed: tuple[int, ...] = ()
    """The items that failed in it while others did not; they take no further part in the run."""
    warnings: tuple[str, ...] = ()
    """What is odd about what the tool returned, for someone to read."""
    waiting: float | None = None
    """Of its seconds, those spent waiting for the server to be ready; none where nothing was called."""
    server: float | None = None
    """Of its seconds, those from the request's last byte to the first of the answer."""
    transport: float | None = None
    """Of its seconds, those for encoding, sending, receiving and decoding."""
    provenance: Literal["ran", "recorded"] = "ran"
    """Whether its tool was called, or the recording answered."""
    follows_edit: bool = False
    """Whether something that it read was edited by hand, or came of an edit."""


class VisitFailed(VisitEvent, frozen=True, kw_only=True):
    """A visit failed or was cancelled; the variables stay as they were."""

    type: ClassVar[str] = "visit_failed"
    seconds: float = 0
    """How long it took."""
    error: str = ""
    """What happened and what to do, for someone to read."""


class StepSkipped(StepEvent, frozen=True, kw_only=True):
    """A step was passed over: there is nothing for it to work on. It makes no visit."""

    type: ClassVar[str] = "step_skipped"
    reason: str
    """Why, for someone to read."""


class LoopRound(StepEvent, frozen=True, kw_only=True):
    """A round of a loop begins; the last number of `round` is that round's."""

    type: ClassVar[str] = "loop_round"
    times: int
    """How many rounds it may have."""


class LoopFinished(StepEvent, frozen=True, kw_only=True):
    """A loop is over; `round` is of the loops around it."""

    type: ClassVar[str] = "loop_finished"
    rounds: int
    """How many rounds ran."""
    times: int
    """How many it might have had."""
    reason: str
    """Why it is over, for someone to read."""


class BranchRouted(StepEvent, frozen=True, kw_only=True):
    """A router has decided, and its items go to their branches."""

    type: ClassVar[str] = "branch_routed"
    states: Mapping[str, tuple[int, ...]]
    """Each state that was given, with the items that go there."""


class VariableWritten(Event, frozen=True, kw_only=True):
    """A variable has a new version."""

    type: ClassVar[str] = "variable_written"
    name: str
    """The variable."""
    visit: int | None
    """The visit that wrote it."""
    shape: str
    """What it is and how large, in a few characters: `list 10`, `10 x 5`, `text 120`."""
    items: tuple[int, ...] | None = None
    """The entries that were written; none where all were, or it has no entry for each item."""


class LogPrinted(StepEvent, frozen=True, kw_only=True):
    """A logpoint was reached, and printed its template."""

    type: ClassVar[str] = "log_printed"
    text: str
    """The template, filled in."""


class Dumped(StepEvent, frozen=True, kw_only=True):
    """A breakpoint or watch of `ragwb run --on-break` was hit: all there is to see there. `step` runs next."""

    type: ClassVar[str] = "dumped"
    why: str
    """Why the run stopped, in one sentence."""
    inputs: Mapping[str, Any]
    """What the step would be given, whole, by argument; empty where that is not known."""
    variables: Mapping[str, Any]
    """All variables, whole, by name; an entry that is not set is the text `<UNSET>`."""


class Edited(Event, frozen=True, kw_only=True):
    """Something was changed by hand, or a file of parameters gave another value."""

    type: ClassVar[str] = "edited"
    what: Literal["variable", "parameter", "input", "state"]
    """What kind of thing: `input` is one of the step that runs next, `state` a router's decision for an item."""
    name: str
    """The variable, `server.parameter`, the input, or the router's branch."""
    step: str | None = None
    """Of an input or a state: the path of the step that it belongs to."""
    item: int | None = None
    """The one item that was changed; none where the whole value was."""
    old: Any = None
    """The value before."""
    new: Any = None
    """The value after."""


class Stopped(Event, frozen=True, kw_only=True):
    """The run waits for a command."""

    type: ClassVar[str] = "stopped"
    reason: Literal["entry", "step", "breakpoint", "pause", "failed", "cancelled", "went back", "reloaded", "finished"]
    """The kind of stop: `entry` before anything is run, `breakpoint` for a watch too, `finished` at the end."""
    why: str
    """Why, in one sentence; of a failure its message."""
    step: str | None = None
    """What runs next, or what failed: its path; none at the end."""
    name: str | None = None
    """Its name."""
    round: tuple[int, ...] = ()
    """The rounds of the loops around it, outermost first."""
    branch: tuple[str, ...] = ()
    """The states of the branches around it, outermost first."""
    visit: int | None = None
    """The visit that failed or was cancelled."""


class Continued(Event, frozen=True, kw_only=True):
    """A command lets the run go on."""

    type: ClassVar[str] = "continued"
    command: Literal["over", "into", "out", "continue"]
    """Which one."""


class WentBack(Event, frozen=True, kw_only=True):
    """The cursor went to a checkpoint without anything being run: back, forth, or to another timeline."""

    type: ClassVar[str] = "went_back"
    visit: int | None
    """The visit that it stands before; none at the end."""
    timeline: int
    """The timeline it is in now."""
    stateful: tuple[str, ...] = ()
    """The servers whose state is not what it was there: what their tools did is not turned back."""


class Forked(Event, frozen=True, kw_only=True):
    """A second timeline began, at a checkpoint of another: with the first visit of its own, before that is finished; or
    with an edit, at the end of one that was run under the pipeline as it was."""

    type: ClassVar[str] = "forked"
    number: int
    """The number of the new timeline."""
    parent: int
    """The timeline that it left."""
    parent_visit: int | None
    """The visit of the parent before which it left; null where it left after the last one."""


class Reloaded(Event, frozen=True, kw_only=True):
    """The files of the pipeline were read anew, and what has run was kept as far as it fits."""

    type: ClassVar[str] = "reloaded"
    visits: int
    """How many visits were kept."""
    cut: str | None = None
    """Why no more were."""
    servers: tuple[str, ...] = ()
    """The servers that begin anew."""
    parameters: tuple[str, ...] = ()
    """The parameters (`server.name`) that have other values."""
    breakpoints_gone: tuple[str, ...] = ()
    """The breakpoints whose steps are there no more."""


class RecordFailed(Event, frozen=True, kw_only=True):
    """Something that should be kept could not be written."""

    type: ClassVar[str] = "record_failed"
    message: str
    """What, and why, for someone to read."""


class RunFinished(Event, frozen=True, kw_only=True):
    """A run is over for now: its record is complete."""

    type: ClassVar[str] = "run_finished"
    outcome: Literal["finished", "failed", "stopped", "interrupted"]
    """How it went: `stopped` at a breakpoint or a watch, `interrupted` anywhere else before the end."""
    visits: int
    """How many visits its timeline has."""
    seconds: float
    """How long the session has lasted."""
    memory: str | None = None
    """The memory file that was written."""
