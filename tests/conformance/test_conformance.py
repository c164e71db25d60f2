"""Every pipeline of the suite, through real stdio servers, in every way of getting there.

Its memory file must be as expected, and where it must fail, the message must hold the words.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support import CONFORMANCE, back_and_forth, resume_before_every_step, run_to_end, step_by_step
from workbench.mcp.hub import ServerHub
from workbench.pipeline.problems import PipelineError

PIPELINES = sorted((CONFORMANCE / "pipelines").glob("*.yaml"))
WAYS = (run_to_end, step_by_step, resume_before_every_step, back_and_forth)
REFUSED_WHEN_READ = {"53-two-outputs-one-name"}


@pytest.mark.parametrize("pipeline", PIPELINES, ids=lambda path: path.stem)
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
async def test_memory_file_is_as_expected(way: Any, pipeline: Path, lab_servers: ServerHub, tmp_path: Path) -> None:
    expected = json.loads((CONFORMANCE / "expected" / f"{pipeline.stem}.json").read_text(encoding="utf-8"))
    error = CONFORMANCE / "expected" / f"{pipeline.stem}.error.json"
    names = json.loads(error.read_text())["message_names"] if error.exists() else None
    if pipeline.stem in REFUSED_WHEN_READ:
        with pytest.raises(PipelineError) as refused:
            await way(pipeline, lab_servers, tmp_path)
        memory, message = [], str(refused.value)
    else:
        session, stopped = await way(pipeline, lab_servers, tmp_path)
        assert stopped.reason == ("finished" if names is None else "failed"), stopped.why
        memory, message = session.memory(), stopped.why
    assert memory == expected
    for name in names or []:
        assert name in message


def test_the_suite_is_whole() -> None:
    assert len(PIPELINES) == 81
