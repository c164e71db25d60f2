"""Every pipeline of the suite, through real stdio servers: its memory file, and where it must fail, its words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support import CONFORMANCE, run_to_end
from workbench.mcp.hub import ServerHub
from workbench.pipeline.problems import PipelineError

PIPELINES = sorted((CONFORMANCE / "pipelines").glob("*.yaml"))


@pytest.mark.parametrize("pipeline", PIPELINES, ids=lambda path: path.stem)
async def test_memory_file_is_as_expected(pipeline: Path, lab_servers: ServerHub, tmp_path: Path) -> None:
    expected = json.loads((CONFORMANCE / "expected" / f"{pipeline.stem}.json").read_text(encoding="utf-8"))
    error = CONFORMANCE / "expected" / f"{pipeline.stem}.error.json"
    names = json.loads(error.read_text())["message_names"] if error.exists() else None
    try:
        session, stopped = await run_to_end(pipeline, lab_servers, tmp_path)
    except PipelineError as refused:
        assert names is not None, str(refused)
        assert expected == []
        message = str(refused)
    else:
        assert session.memory() == expected
        assert stopped.reason == ("finished" if names is None else "failed"), stopped.why
        message = stopped.why
    for name in names or []:
        assert name in message


def test_the_suite_is_whole() -> None:
    assert len(PIPELINES) == 81
