"""What scores passages against a question: a registry, and what every backend is to the server."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from fastmcp.exceptions import ToolError

from workbench.mcp.backends import Backends

RERANKERS = Backends(
    "reranker.backend",
    {
        "wordllama": "rerankers.word_matches:WordMatches",
        "sentence_transformers": "rerankers.cross_encoder:CrossEncoderModel",
        "infinity": "rerankers.endpoint:InfinityEndpoint",
        "openai": "rerankers.endpoint:RerankEndpoint",
    },
)


class RerankError(ToolError):
    """A reranker can't be loaded or gave nothing usable. ``str()`` says what to do."""


class Reranker(ABC):
    """Passages' scores for a query."""

    settings: ClassVar[frozenset[str] | None]
    """What it reads of its part of backend_configs; None where it hands all of it on."""

    @abstractmethod
    def __init__(self, model: str, configs: Mapping[str, Any], batch_size: int) -> None:
        """``configs`` is the backend's own part of backend_configs."""

    @abstractmethod
    async def scores(self, queries: Sequence[str], passages: Sequence[Sequence[str]]) -> list[list[float]]:
        """Queries x passages, higher is better, in the order of the passages. No query has no passage."""

    async def close(self) -> None:  # noqa: B027 - most have none
        """Let go of connections."""
