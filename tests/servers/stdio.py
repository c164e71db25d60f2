"""A server as a pipeline has it: a process of its own, called over stdio."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastmcp import Client
from fastmcp.client.transports import StdioTransport

ROOT = Path(__file__).resolve().parents[2]


class StdioServer:
    """One running server; ``log`` is the file with what it writes to stderr."""

    def __init__(self, client: Client[Any], project: Path, log: Path) -> None:
        self.client, self.project, self.log = client, project, log
        self.progress: list[tuple[float, float | None, str | None]] = []

    async def __call__(self, tool: str, **arguments: Any) -> Any:
        """The tool's structured result. Raises ``ToolError`` with the server's words."""
        self.progress.clear()

        async def told(progress: float, total: float | None, message: str | None) -> None:
            self.progress.append((progress, total, message))

        result = await self.client.call_tool(tool, arguments, progress_handler=told)
        return result.structured_content

    def said(self) -> str:
        """All that it wrote to stderr so far."""
        return self.log.read_text(encoding="utf-8")


@asynccontextmanager
async def running(name: str, project: Path, *, model: Any = None, **environment: str) -> AsyncIterator[StdioServer]:
    """The server ``servers/<name>`` with ``project`` as project folder and place for what it writes.

    ``model`` answers what the server asks of the client's model: prompt -> text.
    """

    async def sample(messages: Any, *_: Any) -> str:
        return str(model(messages[0].content.text))

    script = ROOT / "servers" / name / "src" / f"{name}.py"
    log = project / f"{name}.log"
    env = {**os.environ, "RAGWB_PROJECT": str(project), "RAGWB_OUTPUT": str(project), **environment}
    transport = StdioTransport(sys.executable, [str(script)], env=env, cwd=str(project), keep_alive=False, log_file=log)
    asks: dict[str, Any] = {"sampling_handler": sample, "mode": "legacy"} if model is not None else {}
    async with Client(transport, **asks) as client:
        yield StdioServer(client, project, log)
