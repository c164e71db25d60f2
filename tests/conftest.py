from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.support import CONFORMANCE
from workbench.mcp.hub import ServerHub
from workbench.pipeline.prepare import prepare


@pytest.fixture(scope="session", autouse=True)
def user_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """No test depends on what its user has configured or trusted; the folder is the user's configuration folder."""
    folder = tmp_path_factory.mktemp("config")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(folder))
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        # Tests start servers that nobody was asked about; tests/cli/test_trust.py takes this back.
        patch.setenv("RAGWB_TRUST", "all")
        yield folder


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def lab_servers() -> AsyncIterator[ServerHub]:
    """The servers of the conformance suite, under every alias that it uses, started once for all tests."""
    pipelines = (prepare(file, checks=False) for file in (CONFORMANCE / "pipelines").glob("*.yaml"))
    sources = {alias: source for prepared in pipelines for alias, source in prepared.used_sources().items()}
    hub = ServerHub(sources, lambda event: None)
    hub.start(sources)
    yield hub
    await hub.close()
