"""Answers from the recording: what a visit gave before is given again, and nothing runs."""

from __future__ import annotations

from typing import Any, Literal

from workbench.engine.entries import is_same
from workbench.engine.failures import with_gaps
from workbench.engine.inputs import BoundInputs
from workbench.engine.pool import Variable
from workbench.engine.ports import CallResult
from workbench.engine.visit import Visit
from workbench.pipeline.binding import Binding

Answers = Literal["run", "recorded if equal", "recorded"]
"""How a step is answered that has a twin in the timeline a fork began in."""


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
