from __future__ import annotations

from pathlib import Path

import pytest

from tests.pipeline.lab import PARAMETERS, SERVER


@pytest.fixture
def project(tmp_path: Path) -> Path:
    source = tmp_path / "servers" / "lab" / "src"
    source.mkdir(parents=True)
    (source / "lab.py").write_text(SERVER, encoding="utf-8")
    (source.parent / "parameter.yaml").write_text(PARAMETERS, encoding="utf-8")
    return tmp_path
