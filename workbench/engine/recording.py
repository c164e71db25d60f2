"""Answers from the recording: what a visit gave before is given again, and nothing runs."""

from __future__ import annotations

from typing import Any, Literal, Protocol

from workbench.engine.cursor import Place
from workbench.engine.entries import is_same
from workbench.engine.failures import with_gaps
from workbench.engine.inputs import BoundInputs
from workbench.engine.pool import Variable
from workbench.engine.ports import CallResult, Edit
from workbench.engine.visit import Visit
from workbench.pipeline.binding import Binding

Answers = Literal["run", "recorded if equal", "recorded"]
"""How a step is answered that has a twin in the timeline a fork began in."""


class Recording(Protocol):
    """A run that is kept elsewhere, by which this one is rebuilt, and whose later visits may answer it, too.

    ``is_rebuilding`` holds from the begin until the visit that the user wants to go live before: up to there each
    visit that the recording has is answered by it.
    """

    is_rebuilding: bool

    def why_live(self, step: str, place: Place, binding: Binding | None) -> tuple[str, bool] | None:
        """Why the run should stop before a step while it is rebuilt, and whether it is there; None: it should not.

        What lacks on the way is run, or mended, by the user; the rest is rebuilt after that.
        """

    def knows(self, visit: Visit, answers: Answers) -> bool:
        """Whether the recording may answer a visit, as far as that is known before its inputs are."""

    def edits_before(self, visit: Visit) -> tuple[Edit, ...]:
        """What was changed by hand before a visit that is rebuilt."""

    def answer(self, visit: Visit, binding: Binding, answers: Answers) -> CallResult | None:
        """What the tool returned in the recording; None where that can't be told, or the inputs are others."""


def is_same_question(twin: Visit, bound: BoundInputs, answers: Answers) -> bool:
    """Whether a recorded visit may answer: always for the same items, or only for equal inputs."""
    if answers == "run" or twin.bound is None or twin.bound.items != bound.items:
        return False
    return answers == "recorded" or is_same(twin.bound.arguments(), bound.arguments())


def recorded_result(twin: Visit, binding: Binding) -> CallResult:
    """What the tool returned in that visit, put together again from what was kept of it."""
    values: dict[str, Any] = dict(twin.extra)
    places = twin.items or ()
    for output in binding.outputs:
        if output.is_parameter:
            values[output.declared] = twin.parameters[output.target]
        else:
            given = returned(twin.saved[output.target])
            if binding.is_router:
                states = [twin.routes[item] for item in places if item not in twin.failures]
                given = [{"data": data, "state": state} for data, state in zip(given, states, strict=True)]
            if twin.failures and isinstance(given, list) and len(given) == len(places) - len(twin.failures):
                given = with_gaps(given, places, twin.failures)
            values[output.declared] = given
    if binding.declaration.kind == "prompt" or binding.is_bare:
        return CallResult(next(iter(values.values()), []))
    return CallResult(values, failed={places.index(item): reason for item, reason in twin.failures.items()})


def returned(variable: Variable) -> Any:
    """What a step gave for a variable: of an item list the entries that it wrote."""
    if variable.written is None or len(variable.written) == variable.length:
        return variable.value
    return [variable.kept[item] for item in variable.written]
