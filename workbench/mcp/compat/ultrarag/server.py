"""``UltraRAG_MCP_Server``, for servers that were written for UltraRAG."""

from __future__ import annotations

import inspect
from typing import Any

from fastmcp import FastMCP

from workbench.mcp.kit import ToolServer

__all__ = ["UltraRAG_MCP_Server"]


def _known(function: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Only the options that today's FastMCP still has: UltraRAG drops the others too."""
    parameters = inspect.signature(function).parameters
    return {name: value for name, value in options.items() if name in parameters and value is not None}


class UltraRAG_MCP_Server(ToolServer):
    """A ``ToolServer`` that takes the options of older FastMCP versions and ignores those that are gone."""

    def __init__(self, name: str | None = None, instructions: str | None = None, **options: Any) -> None:
        super().__init__(name or "UltraRAG", instructions, **_known(FastMCP.__init__, options))

    def tool(self, name_or_fn: Any = None, *, output: str | None = None, **options: Any) -> Any:
        return super().tool(name_or_fn, output=output, **_known(FastMCP.tool, options))

    def prompt(self, name_or_fn: Any = None, *, output: str | None = None, **options: Any) -> Any:
        return super().prompt(name_or_fn, output=output, **_known(FastMCP.prompt, options))
