from __future__ import annotations

import os
from collections.abc import AsyncIterator

import pytest_asyncio

from tests.support import CONFORMANCE
from workbench.mcp.hub import ServerHub
from workbench.pipeline.prepare import prepare

# Tests start servers that nobody was asked about; tests/cli/test_trust.py takes this back.
os.environ["RAGWB_TRUST"] = "all"


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def lab_servers() -> AsyncIterator[ServerHub]:
    """The servers of the conformance suite, under every alias that it uses, started once for all tests."""
    pipelines = (prepare(file, checks=False) for file in (CONFORMANCE / "pipelines").glob("*.yaml"))
    sources = {alias: source for prepared in pipelines for alias, source in prepared.used_sources().items()}
    hub = ServerHub(sources, lambda event: None)
    hub.start(sources)
    yield hub
    await hub.close()
