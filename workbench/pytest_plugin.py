"""The pytest plugin: the fixture ``ragwb_pipeline`` runs a pipeline in a test.

It is loaded in every run of pytest where ragwb is installed, so it loads nothing until the fixture is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from workbench.api.pipeline_tests import PipelineRunner, SharedServers


@pytest.fixture(scope="session")
def _ragwb_servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedServers]:
    """The servers of all tests; they are stopped when the last test is over."""
    from workbench.api.pipeline_tests import SharedServers

    shared = SharedServers(tmp_path_factory.mktemp("ragwb"))
    yield shared
    shared.close()


@pytest.fixture
def ragwb_pipeline(_ragwb_servers: SharedServers, pytestconfig: pytest.Config, tmp_path: Path) -> PipelineRunner:
    """Runs pipelines: `run = await ragwb_pipeline("pipelines/rag.yaml")`, or `run = ragwb_pipeline.run(...)`."""
    from workbench.api.pipeline_tests import PipelineRunner

    return PipelineRunner(_ragwb_servers, pytestconfig.rootpath, tmp_path)
