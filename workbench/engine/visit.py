"""A visit: one execution of a step, with all that went in and came out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from workbench.engine.inputs import BoundInputs
from workbench.engine.pool import Variable

VisitStatus = Literal["running", "finished", "failed", "cancelled"]


@dataclass(frozen=True)
class Visit:
    """One execution of a step. Its number is unique in the session; a retry is a further attempt of it.

    ``saved`` are the variables it wrote, ``extra`` what the tool returned beyond its outputs, ``routes`` a router's
    decisions (item -> state). Times are Unix seconds and seconds.
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
    saved: Mapping[str, Variable] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)
    routes: Mapping[int, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    error: str | None = None
    started: float = 0
    seconds: float = 0
