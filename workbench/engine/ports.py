"""The ports of the engine: ``Tools`` (who runs a step), ``Answering`` (who answers what servers ask) and ``Recorder``
(who keeps what a step gave)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from msgspec import Struct, field

from workbench.pipeline.declaration import ServerDeclaration, ToolKind

if TYPE_CHECKING:
    from workbench.engine.events import Event
    from workbench.engine.timeline import Moment, Timeline
    from workbench.pipeline.prepare import Prepared
    from workbench.pipeline.project import ServerSource


class Progress(Struct, frozen=True):
    """One progress notification of a running call. ``message`` may be a token of an answer."""

    progress: float
    total: float | None = None
    message: str | None = None


class Call(Struct, frozen=True):
    """One call of a tool or prompt. ``items`` are the numbers of the items it is about, if it is about items."""

    alias: str
    tool: str
    kind: ToolKind
    arguments: Mapping[str, Any]
    visit: int
    items: tuple[int, ...] | None = None
    on_progress: Callable[[Progress], None] | None = None
    item_lists: tuple[str, ...] | None = None
    """The arguments that have one entry per item, for a tool that takes inputs of any name."""


class Timing(Struct, frozen=True):
    """Where the time of a call went, in seconds.

    ``waiting`` for the server to be ready; ``server`` from the request's last byte to the first of the answer;
    ``transport`` is the rest: encoding, sending, receiving, decoding.
    """

    waiting: float = 0
    server: float = 0
    transport: float = 0


class CallResult(Struct, frozen=True):
    """What came back.

    ``value`` is, for a tool, its structured result (a mapping for every tool that names its outputs) or its text;
    for a prompt the list of its messages, each ``{"role": ..., "content": {"type": "text", "text": ...}}``.
    """

    value: Any
    is_structured: bool = True
    timing: Timing | None = None
    failed: Mapping[int, str] = field(default_factory=dict)
    """Of a call about items: the places in its lists whose items failed, and why. The others are answered."""
    warnings: tuple[str, ...] = ()
    """What the tool says is odd about its result."""


AskedKind = Literal["elicitation", "sampling"]


class Asked(Struct, frozen=True):
    """What a server asks while it works: the user to fill in a form (elicitation), or for a model's answer (sampling).

    ``request`` is all that it sent: ``requestedSchema`` is the JSON schema of the form, ``messages`` are the model's.
    """

    server: str
    kind: AskedKind
    message: str
    request: Mapping[str, Any]
    visit: int | None = None
    by_model: Callable[[], Awaitable[Reply]] | None = None
    """Gives the answer of the pipeline's own model to a sampling, where the pipeline has one."""


class Reply(Struct, frozen=True):
    """The answer to what a server asked; ``reason`` says why it is refused.

    ``content`` is, of an accepted form, its values by name; of an accepted sampling, the text of the model's answer.
    """

    action: Literal["accept", "decline", "cancel"]
    content: Any = None
    reason: str = ""
    is_cut_off: bool = False
    """Of a model's answer: it ended because it had as many tokens as it may."""


class Answering(Protocol):
    """Whoever answers what servers ask: a rule, or the user at the screen."""

    @property
    def kinds(self) -> frozenset[AskedKind]:
        """What servers are told they may ask."""

    async def answer(self, asked: Asked) -> Reply:
        """Answer one question; cancelled where the server does not wait any more."""


class ToolsError(Exception):
    """A call or a server failed. ``str()`` is one message for the user, with the place and the way out."""

    def __init__(self, message: str, *, alias: str, tool: str | None = None) -> None:
        super().__init__(message)
        self.alias = alias
        self.tool = tool


class ToolFailed(ToolsError):
    """The tool was called and answered with an error; its server lives."""


class ServerGone(ToolsError):
    """The server's process ended, or its connection broke, during a call or before it."""


class ServerStartFailed(ToolsError):
    """A server could not be started. The message holds its command, exit code and last lines of stderr."""


class Tools(Protocol):
    """Whoever can run the steps of a pipeline: the servers of one session."""

    def start(self, aliases: Iterable[str]) -> None:
        """Begin to start these servers, all at once; returns at once."""

    async def declaration(self, alias: str) -> ServerDeclaration:
        """What the server offers, once it is ready. Raises ``ServerStartFailed``."""

    async def call(self, call: Call) -> CallResult:
        """Run one call. Cancelling the awaiting task cancels the call and leaves the server alive.

        Raises ``ToolFailed``, ``ServerGone``, ``ServerStartFailed``.
        """

    async def restart(self, alias: str) -> None:
        """Stop the server and start it anew. Raises ``ServerStartFailed``."""

    async def stop(self, alias: str) -> None:
        """Stop one server."""

    async def take(self, sources: Mapping[str, ServerSource]) -> tuple[str, ...]:
        """Take other servers; those that are there otherwise now, or no more, are stopped. Returns these."""

    async def close(self) -> None:
        """Stop everything. Nothing of any server is left afterwards."""


class Recorder(Protocol):
    """Whoever keeps a run. A step is finished when ``finished`` has returned."""

    @property
    def file(self) -> Path | None:
        """The file from which the run can be gone on with; None where there is none."""

    async def finished(self, timeline: Timeline, moment: Moment) -> None:
        """Keep a visit that follows the last one of the timeline; returns when it is on disk.

        Raises ``OSError`` where it can't be kept (the disk is full): the step then counts as failed.
        """

    async def heard(self, visit: int | None) -> tuple[Event, ...]:
        """The messages on the wire and the server output of a visit, in order; none where they are not kept.

        Raises ``OSError`` where they can't be read.
        """

    def edited(self, edit: Edit, timeline: Timeline) -> None:
        """Keep a change made by hand, before the next visit of the timeline; returns at once."""

    def went_to(self, timeline: Timeline) -> None:
        """Keep that this is the timeline that is gone on with; returns at once."""

    async def reloaded(self, prepared: Prepared) -> None:
        """Keep the pipeline as it is now, before the next visit."""

    async def complete(self, timeline: Timeline) -> str | None:
        """Write the memory file of a timeline, as often as a run ends, fails or is left; returns its path."""

    async def close(self) -> None:
        """Nothing follows."""


class Edit(Struct, frozen=True):
    """A change made by hand: of a variable or one of its items, a parameter, an input, or a router's decision."""

    what: Literal["variable", "parameter", "input", "state"]
    name: str
    value: Any
    item: int | None = None
    alias: str | None = None
    after_visit: int | None = None
    """The last visit before it."""
    origin: str | None = None
    """Of a parameter that a file gave anew: that file; None for what was typed."""
