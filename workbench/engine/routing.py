"""Reads a router's answer: for each item its data and its state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.engine.cursor import Items
from workbench.engine.inputs import StepError
from workbench.engine.values import count_of, numbered
from workbench.pipeline.binding import Binding
from workbench.pipeline.model import BranchStep


def read_routes(
    binding: Binding, values: Mapping[str, Any], items: Items
) -> tuple[dict[str, list[Any]], dict[int, str]]:
    """``(output -> data per item, item -> state)`` from ``[{"data": ..., "state": ...}, ...]`` for each output.

    Raises ``StepError`` for a missing, surplus or stateless answer, and where two outputs disagree.
    """
    name = binding.step.name
    data: dict[str, list[Any]] = {}
    routes: dict[int, str] = {}
    for output in binding.outputs:
        if output.is_parameter:
            continue
        answers = values[output.declared]
        _check_answers(name, output.declared, answers, items)
        data[output.declared] = [answer["data"] for answer in answers]
        for item, answer in zip(items, answers, strict=True):
            state = _state(name, answer["state"], item)
            before = routes.setdefault(item, state)
            if before != state:
                raise StepError(
                    f"{name} disagrees with itself about {numbered([item])}: state {before} and state {state}"
                )
    return data, routes


def _check_answers(name: str, output: str, answers: Any, items: Items) -> None:
    if not isinstance(answers, list):
        raise StepError(f"the router {name} must return for {output} a list of {{data, state}}, one per item")
    if len(answers) != len(items):
        given, due = count_of(len(answers), "answer"), count_of(len(items), "item")
        raise StepError(f"the router {name} returned {given} for {due}: {output}")
    for item, answer in zip(items, answers, strict=True):
        if not isinstance(answer, Mapping) or "data" not in answer or "state" not in answer:
            raise StepError(f"the router {name} must answer {{data, state}} for {numbered([item])} in {output}")


def _state(name: str, state: Any, item: int) -> str:
    """States are text: booleans as ``true`` and ``false``, numbers as digits; null is none."""
    if isinstance(state, bool):
        return "true" if state else "false"
    if isinstance(state, str | int | float):
        return str(state)
    what = "no state (null)" if state is None else f"a state that is no text ({type(state).__name__})"
    raise StepError(f"the router {name} gave {what} for {numbered([item])}")


def unknown_states(name: str, routes: Mapping[int, str], branch: BranchStep) -> str | None:
    """What is wrong with a router's decisions: for which items it chose a state that has no branch; None if nothing."""
    unknown = {item: state for item, state in routes.items() if state not in branch.branches}
    if not unknown:
        return None
    decisions = [f"state {state} for {numbered(items)}" for state, items in _by_state(unknown).items()]
    known = ", ".join(branch.branches) or "none"
    return f"the router {name} gave {' and '.join(decisions)}; the branches there are: {known}"


def routes_in_words(routes: Mapping[int, str]) -> str:
    """``short [0] and [2], long [1]``."""
    return ", ".join(f"{state} {numbered(items)}" for state, items in _by_state(routes).items()) or "nothing"


def _by_state(routes: Mapping[int, str]) -> dict[str, list[int]]:
    return {state: [i for i, s in routes.items() if s == state] for state in dict.fromkeys(routes.values())}
