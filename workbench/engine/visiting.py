"""Runs one step: bind its inputs, call it or answer from the recording, and work out the pool after it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from workbench.engine.bindings import Bindings
from workbench.engine.events import Emit, VisitProgress, VisitStarted
from workbench.engine.failures import in_words, split_off
from workbench.engine.inputs import BoundInputs, Skip, bind_inputs
from workbench.engine.outputs import Saving, outputs_of
from workbench.engine.pool import VariablePool
from workbench.engine.ports import Call, CallResult, Progress, Tools
from workbench.engine.program import Program
from workbench.engine.recording import Answers, is_same_question, recorded_result
from workbench.engine.routing import read_routes
from workbench.engine.timeline import Checkpoint, Moment
from workbench.engine.visit import Visit
from workbench.pipeline.binding import Binding
from workbench.pipeline.model import ToolStep


class Kept(Struct, frozen=True):
    """A finished visit, and the pool with what it wrote."""

    visit: Visit
    pool: VariablePool


class Visiting(Struct):
    """What the visits of a session have in common: who runs them, and who hears of them."""

    bindings: Bindings
    tools: Tools
    emit: Emit

    async def run(
        self,
        program: Program,
        step: ToolStep,
        at: Checkpoint,
        visit: Visit,
        *,
        edits: Mapping[str, Any],
        twin: Visit | None,
        answers: Answers,
        begun: Callable[[Visit], None],
    ) -> Kept | Skip:
        """Carry out one visit. Raises ``StepError``, ``ToolsError``; nothing is changed then.

        ``twin`` is the recorded visit that may answer it; ``begun`` hears of it once its inputs are known.
        """
        binding = await self.bindings.of(step)
        bound = bind_inputs(binding, at.pool, at.cursor.items, _branch(visit), edits)
        if isinstance(bound, Skip):
            return bound
        is_recorded = twin is not None and is_same_question(twin, bound, answers)
        visit = replace(
            visit,
            bound=bound,
            edited_inputs=dict(edits),
            items=bound.items,
            provenance="recorded" if is_recorded else "ran",
        )
        begun(visit)
        self.emit(VisitStarted(**visit.where()))
        if is_recorded and twin is not None:
            result = recorded_result(twin, binding)
        else:
            result = await self.tools.call(self._call(binding, bound, visit))
        return keep_result(program, binding, result, at, visit)

    async def initialise(self, moments: Iterable[Moment], alias: str) -> tuple[str, ...]:
        """Repeat a server's initialising calls for one that was started anew; returns their names.

        These are its earlier calls of tools without outputs. Raises ``StepError``, ``ToolsError``.
        """
        repeated = []
        for moment in moments:
            binding = self.bindings.known.get(moment.visit.step)
            if binding is None or binding.step.alias != alias or binding.outputs:
                continue
            bound = bound_again(moment, binding)
            if isinstance(bound, BoundInputs):
                await self.tools.call(self._call(binding, bound, moment.visit))
                repeated.append(moment.visit.name)
        return tuple(repeated)

    def _call(self, binding: Binding, bound: BoundInputs, visit: Visit) -> Call:
        takes_any = binding.declaration.more_inputs is not None
        return Call(
            alias=binding.step.alias,
            tool=binding.step.tool,
            kind=binding.declaration.kind,
            arguments=bound.arguments(),
            visit=visit.number,
            items=bound.items,
            on_progress=lambda progress: self._progress(visit, progress),
            item_lists=bound.item_lists() if takes_any else None,
        )

    def _progress(self, visit: Visit, progress: Progress) -> None:
        about: dict[str, Any] = {"total": progress.total, "message": progress.message, **visit.where()}
        self.emit(VisitProgress(progress=progress.progress, **about))


def keep_result(program: Program, binding: Binding, result: CallResult, at: Checkpoint, visit: Visit) -> Kept:
    """Read a call's result and keep its outputs. Raises ``StepError``; nothing is changed then."""
    bound = visit.bound
    assert bound is not None
    values, extra = outputs_of(binding, result)
    values, bound, failures = split_off(binding.step.name, values, bound, result.failed)
    routes: dict[int, str] = {}
    if binding.is_router:
        data, routes = read_routes(binding, values, bound.items or ())
        values = {**values, **data}
    saving = Saving(program, binding, bound, at.cursor.items is not None, _branch(visit), visit, at.pool, failures)
    saving.save(values)
    warnings = [*([in_words(failures, len(visit.items or ()))] if failures else []), *result.warnings]
    finished = replace(
        visit,
        status="finished",
        saved=saving.saved,
        parameters=saving.parameters,
        extra=extra,
        routes=routes,
        failures=failures,
        warnings=(*warnings, *saving.warnings),
        seconds=time.time() - visit.started,
        timing=result.timing,
        is_stateful=visit.provenance == "ran" and (binding.declaration.stateful or not binding.outputs),
    )
    return Kept(finished, saving.pool)


def bound_again(moment: Moment, binding: Binding) -> BoundInputs | Skip:
    """The inputs of a visit, worked out from its checkpoint. Raises ``StepError``."""
    visit, before = moment.visit, moment.before
    return bind_inputs(binding, before.pool, before.cursor.items, _branch(visit), visit.edited_inputs)


def _branch(visit: Visit) -> str | None:
    return visit.branch[-1] if visit.branch else None
