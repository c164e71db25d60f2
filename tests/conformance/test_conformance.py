"""Every pipeline of the suite, through real stdio servers: its memory file, and where it must fail, its words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support import CONFORMANCE, run_to_end
from workbench.mcp.hub import ServerHub
from workbench.pipeline.problems import PipelineError

PIPELINES = sorted((CONFORMANCE / "pipelines").glob("*.yaml"))
REFUSED_WHEN_READ = {"53-two-outputs-one-name"}


@pytest.mark.parametrize("pipeline", PIPELINES, ids=lambda path: path.stem)
async def test_memory_file_is_as_expected(pipeline: Path, lab_servers: ServerHub, tmp_path: Path) -> None:
    expected = json.loads((CONFORMANCE / "expected" / f"{pipeline.stem}.json").read_text(encoding="utf-8"))
    error = CONFORMANCE / "expected" / f"{pipeline.stem}.error.json"
    names = json.loads(error.read_text())["message_names"] if error.exists() else None
    if pipeline.stem in REFUSED_WHEN_READ:
        with pytest.raises(PipelineError) as refused:
            await run_to_end(pipeline, lab_servers, tmp_path)
        memory, message = [], str(refused.value)
    else:
        session, stopped = await run_to_end(pipeline, lab_servers, tmp_path)
        assert stopped.reason == ("finished" if names is None else "failed"), stopped.why
        memory, message = session.memory(), stopped.why
    assert memory == expected
    for name in names or []:
        assert name in message


def test_the_suite_is_whole() -> None:
    assert len(PIPELINES) == 81
