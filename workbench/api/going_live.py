"""Goes live from a visit of a saved run: a new session, rebuilt from the file up to there. The file is untouched."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from workbench.api.sessions import OnEvent, opened, places
from workbench.api.wiring import Wiring, recorded_options
from workbench.cases.opening import OpenedRun, open_runs
from workbench.cases.run_recording import RunRecording
from workbench.cases.session_run import pipeline_of_session
from workbench.engine.debugger import Debugger
from workbench.engine.recording import Answers
from workbench.pipeline.prepare import prepare
from workbench.record.session_schema import is_session


class NotLive(Exception):
    """A saved run can't be gone on with; ``str()`` says why."""


def live_wiring(
    run: OpenedRun,
    visit: int,
    *,
    answers: Answers = "run",
    by_step: Mapping[str, Answers] | None = None,
    **wired: Any,
) -> Wiring:
    """A session that is rebuilt up to before a visit of a run, counted from 1.

    From there on, steps that the run has as well are answered by ``answers``, single ones by ``by_step`` (step path ->
    answers). ``wired`` are further parts of the ``Wiring``. Raises ``NotLive``, ``PipelineError``.
    """
    if run.pipeline is None:
        raise NotLive(f"{run.run.file}: its pipeline is not known, and so neither what runs next (--pipeline FILE)")
    if not 1 <= visit <= len(run.run.visits):
        raise NotLive(f"{run.run.file}: there is no visit {visit}; its visits are 1 to {len(run.run.visits)}")
    steps = {step.path for step in run.pipeline.pipeline.tool_steps()}
    unknown = [step for step in by_step or {} if step not in steps]
    if unknown:
        raise NotLive(f"there is no step {unknown[0]} in {run.pipeline.pipeline.file}")
    options = pipeline_of_session(run.run.file)[1] if is_session(run.run.file) else {}
    given = recorded_options(options.get("param"), options.get("sets") or (), options.get("mcp_config"))
    prepared = prepare(
        run.pipeline.pipeline.file,
        param_file=given["param"],
        sets=given["sets"],
        mcp_config=given["mcp_config"],
    )
    return Wiring(
        prepared,
        given,
        recording=RunRecording(run, visit),
        answers=answers,
        answers_by_step=by_step or {},
        **wired,
    )


@asynccontextmanager
async def replay(
    run: str | Path,
    visit: int,
    *,
    pipeline: str | Path | None = None,
    answers: Answers = "run",
    by_step: Mapping[str, Answers] | None = None,
    folder: str | Path | None = None,
    on_event: OnEvent | None = None,
) -> AsyncIterator[Debugger]:
    """A debugger that stands before a visit of a saved run (a memory file or a session), in a new session.

    The run up to there is rebuilt from the file; where it lacks something, the debugger stands before that step, and
    ``state.stop.why`` says what to do. Servers are started when their first step runs. ``answers`` and ``by_step``
    (step path -> answers) say how later steps are answered that the run has as well: ``run``, ``recorded``, or
    ``recorded if equal`` (their inputs).

    Raises ``RunUnreadable``, ``NotLive``, ``PipelineError``, ``OSError``.
    """
    found = open_runs(Path(run), Path(pipeline) if pipeline is not None else None)[0]
    wiring = live_wiring(found, visit, answers=answers, by_step=by_step, **places(folder))
    async with opened(wiring, on_event, starts_servers=False) as debugger:
        yield debugger
