"""The servers' own modules, importable as they are when a server runs: each src folder is on the path."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_endpoint import FakeEndpoint
from hypothesis import settings

ROOT = Path(__file__).resolve().parents[2]

# The same examples in every run, however busy the machine is.
settings.register_profile("ragwb", deadline=None, derandomize=True, database=None)
settings.load_profile("ragwb")

for folder in sorted((ROOT / "servers").glob("*/src")):
    sys.path.insert(0, str(folder))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project folder, which is also where output goes."""
    monkeypatch.setenv("RAGWB_PROJECT", str(tmp_path))
    monkeypatch.setenv("RAGWB_OUTPUT", str(tmp_path))
    return tmp_path


@pytest.fixture
def endpoint() -> Iterator[FakeEndpoint]:
    """A local HTTP server that speaks the OpenAI protocol."""
    with FakeEndpoint() as running:
        yield running
