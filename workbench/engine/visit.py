"""A visit: one execution of a step, with all that went in and came out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct, field

from workbench.engine.inputs import BoundInputs
from workbench.engine.pool import Variable
from workbench.engine.ports import Timing

VisitStatus = Literal["running", "finished", "failed", "cancelled"]
Provenance = Literal["ran", "recorded"]


class Visit(Struct, frozen=True):
    """One execution of a step. Its number is unique in the session; a retry is a further attempt of it.

    ``saved`` are the variables it wrote, ``extra`` what the tool returned beyond its outputs, ``routes`` a router's
    decisions (item -> state). ``parameters`` are those of its server that it wrote. Times are Unix seconds and seconds.
    """

    number: int
    step: str
    name: str
    status: VisitStatus
    attempt: int = 1
    round: tuple[int, ...] = ()
    branch: tuple[str, ...] = ()
    items: tuple[int, ...] | None = None
    bound: BoundInputs | None = None
    edited_inputs: Mapping[str, Any] = field(default_factory=dict)
    """Inputs that were changed by hand for this visit (argument -> value)."""
    saved: Mapping[str, Variable] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)
    routes: Mapping[int, str] = field(default_factory=dict)
    failures: Mapping[int, str] = field(default_factory=dict)
    """The items that failed in it while others did not, and why (item -> reason)."""
    warnings: tuple[str, ...] = ()
    error: str | None = None
    started: float = 0
    seconds: float = 0
    timing: Timing | None = None
    provenance: Provenance = "ran"
    is_stateful: bool = False
    """Whether it changed the state of its server, which going back over it does not undo."""

    @property
    def alias(self) -> str:
        """Its server's name in the pipeline."""
        return self.name.partition(".")[0]

    @property
    def follows_edit(self) -> bool:
        """Whether something that it read was edited by hand, or came of an edit."""
        return self.bound is not None and self.bound.follows_edit

    def where(self) -> dict[str, Any]:
        """What the events of a visit share."""
        return {
            "visit": self.number,
            "attempt": self.attempt,
            "step": self.step,
            "name": self.name,
            "round": self.round,
            "branch": self.branch,
            "items": self.items,
        }
