"""The server's functions, and the pipeline as a whole."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from words import count, longest

PIPELINE = Path(__file__).parents[1] / "pipelines" / "words.yaml"


def test_words_are_counted_in_both_scripts() -> None:
    assert count(["one two", "土星", ""]) == {"count_ls": [2, 2, 0]}


def test_short_words_are_passed_over() -> None:
    assert longest(["a pond of carp", "a b"], shortest=4) == {"longest_ls": ["pond", ""]}


def test_the_pipeline_runs(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "workbench.cli.main", "run", str(PIPELINE), "--yes", "--no-session", "--json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["result"] == {"longest_ls": ["observatory", "skating", ""]}
