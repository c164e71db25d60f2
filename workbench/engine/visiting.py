"""From a call's result to a finished visit and the pool after it."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from workbench.engine.inputs import BoundInputs
from workbench.engine.outputs import Saving, outputs_of
from workbench.engine.pool import VariablePool
from workbench.engine.ports import CallResult
from workbench.engine.program import Program
from workbench.engine.routing import read_routes
from workbench.engine.visit import Visit
from workbench.pipeline.binding import Binding

if TYPE_CHECKING:
    from workbench.engine.debugger import State


@dataclass(frozen=True)
class Kept:
    """A finished visit, and the pool with what it wrote."""

    visit: Visit
    pool: VariablePool


def keep_result(
    program: Program, binding: Binding, bound: BoundInputs, *, result: CallResult, state: State, visit: Visit
) -> Kept:
    """Read a call's result and keep its outputs. Raises ``StepError``; nothing is changed then."""
    values, extra = outputs_of(binding, result)
    routes: dict[int, str] = {}
    if binding.is_router:
        data, routes = read_routes(binding, values, bound.items or ())
        values = {**values, **data}
    branch = state.place.branch[-1] if state.place.branch else None
    saving = Saving(program, binding, bound, state.cursor.items, branch, visit.number, state.pool)
    saving.save(values)
    finished = replace(
        visit,
        status="finished",
        saved=saving.saved,
        extra=extra,
        routes=routes,
        warnings=tuple(saving.warnings),
        seconds=time.time() - visit.started,
    )
    return Kept(finished, saving.pool)
