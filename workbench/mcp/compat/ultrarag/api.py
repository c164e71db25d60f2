"""``initialize``, ``ToolCall`` and ``PipelineCall``, for scripts that were written for UltraRAG."""

from __future__ import annotations

from workbench.api.ultrarag_calls import PipelineCall, ToolCall, initialize

__all__ = ["PipelineCall", "ToolCall", "initialize"]
