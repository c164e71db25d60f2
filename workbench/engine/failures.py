"""Items that failed in a call while others did not: these keep what they got, and the run goes on without the former.

A failed item takes no further part: no step is given it, no branch gets it, no score counts it. Going back before the
visit, or giving it a value by hand, brings it back.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from workbench.engine.inputs import BoundInputs, StepError
from workbench.engine.values import count_of, numbered

_SHOWN = 5
"""Of how many items the reason is told."""


def split_off(
    name: str, values: Mapping[str, Any], bound: BoundInputs, failed: Mapping[int, str]
) -> tuple[dict[str, Any], BoundInputs, dict[int, str]]:
    """What a call gave for the items that did not fail, these alone as its items, and item -> reason for the others.

    ``failed`` has places in the call's lists. Raises ``StepError`` where no item is left, or there are none to fail.
    """
    if not failed:
        return dict(values), bound, {}
    items = bound.items
    if items is None:
        raise StepError(f"{name}: {count_of(len(failed), 'value')} failed: {'; '.join([*failed.values()][:_SHOWN])}")
    failures = {items[place]: reason for place, reason in sorted(failed.items()) if 0 <= place < len(items)}
    left = [place for place, item in enumerate(items) if item not in failures]
    if not left:
        raise StepError(f"{name}: {_reasons(failures)}")
    kept = {
        key: [value[place] for place in left] if isinstance(value, list) and len(value) == len(items) else value
        for key, value in values.items()
    }
    return kept, replace(bound, items=tuple(items[place] for place in left)), failures


def in_words(failures: Mapping[int, str], count: int) -> str:
    """A warning that names the items and says why."""
    take = "takes" if len(failures) == 1 else "take"
    return (
        f"{len(failures)} of {count_of(count, 'item')} failed, and {take} no further part in the run: "
        f"{_reasons(failures)}"
    )


def with_gaps(given: list[Any], items: tuple[int, ...], failures: Mapping[int, str]) -> list[Any]:
    """What was kept of a list, with a place again for each item that failed."""
    rest = iter(given)
    return [None if item in failures else next(rest) for item in items]


def _reasons(failures: Mapping[int, str]) -> str:
    shown = [f"{numbered([item])} {reason}" for item, reason in list(failures.items())[:_SHOWN]]
    further = list(failures)[_SHOWN:]
    return "; ".join([*shown, f"and {numbered(further)}"] if further else shown)
