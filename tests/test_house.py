"""The rules of the house that a linter can't see."""

from __future__ import annotations

import subprocess
import sys

import pytest

CORE = "workbench.pipeline.prepare, workbench.engine.debugger, workbench.record.memory_file, workbench.cases.saved_run"
LIBRARY = "workbench.api.sessions, workbench.api.pipeline_tests, workbench.api.ultrarag_calls"
CLIENT = f"{CORE}, workbench.mcp.hub, workbench.cli.main, workbench.cli.run_command"


@pytest.mark.parametrize(
    ("modules", "forbidden"),
    [
        (CORE, ("textual", "rich", "fastmcp", "mcp", "sqlite3")),
        (CLIENT, ("textual", "rich", "fastmcp", "mcp", "httpx2", "numpy", "jinja2")),
        (LIBRARY, ("textual", "rich", "fastmcp", "mcp", "httpx2", "numpy", "argparse", "pytest")),
    ],
    ids=["core", "headless", "library"],
)
def test_what_is_loaded(modules: str, forbidden: tuple[str, ...]) -> None:
    script = f"import {modules}, sys; print(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert set(forbidden) & set(done.stdout.split()) == set()
