"""Hubs over real stdio servers."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from workbench.engine.events import Event
from workbench.engine.ports import Call, CallResult
from workbench.mcp.hub import ServerHub
from workbench.pipeline.project import ServerSource

SERVERS = Path(__file__).with_name("servers")


def python_server(alias: str, script: Path, folder: Path, **options: Any) -> ServerSource:
    return ServerSource(alias=alias, entry=str(script), origin="project", cwd=folder, script=script, **options)


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state not in "ZX"


async def until(condition: Callable[[], bool], seconds: float = 5.0) -> None:
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.01)


class Bench:
    """A hub, what it emitted, and short ways to call."""

    def __init__(self, sources: dict[str, ServerSource], **options: Any) -> None:
        self.events: list[Event] = []
        self.hub = ServerHub(sources, self.events.append, **options)

    async def tool(self, alias: str, tool: str, *, visit: int = 1, **arguments: Any) -> Any:
        return (await self.call(alias, tool, arguments, visit=visit)).value

    async def call(self, alias: str, tool: str, arguments: dict[str, Any], **options: Any) -> CallResult:
        return await self.hub.call(
            Call(alias, tool, options.pop("kind", "tool"), arguments, options.pop("visit", 1), **options)
        )

    def of(self, kind: str, server: str | None = None) -> list[Any]:
        """The events of one type, of one server."""
        return [e for e in self.events if e.type == kind and server in (None, getattr(e, "server", None))]


@pytest.fixture
async def bench() -> AsyncIterator[Callable[..., Bench]]:
    made: list[Bench] = []

    def make(sources: dict[str, ServerSource], **options: Any) -> Bench:
        made.append(Bench(sources, **options))
        return made[-1]

    yield make
    for each in made:
        await each.hub.close()


@pytest.fixture(scope="module", params=["forked", "plain"])
def forking(request: pytest.FixtureRequest) -> bool:
    return bool(request.param == "forked")


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))
