"""Where vectors are kept and searched: a registry, and what every backend is to the retriever."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from fastmcp.exceptions import ToolError

from workbench.mcp.backends import Backends

if TYPE_CHECKING:
    from embedders import Vectors
    from filters import Where
    from hits import Hit
    from passages import Corpus

INDEXES = Backends(
    "retriever.index_backend",
    {
        "faiss": "indexes.flat_faiss:FaissIndex",
        "numpy": "indexes.flat_numpy:NumpyIndex",
        "qdrant": "indexes.qdrant_store:QdrantStore",
        "milvus": "indexes.milvus_store:MilvusStore",
    },
)


class VectorIndexError(ToolError):
    """An index can't be used. ``str()`` names it and the way out."""


class VectorIndex(Protocol):
    """Finds the nearest vectors by cosine. File indexes hold one corpus; stores hold collections with passages."""

    keeps_passages: bool
    """Whether it gives passages without the corpus: a store does."""
    settings: frozenset[str]
    """What it reads of its part of index_backend_configs."""
    in_memory: bool
    """Whether it is made anew by each retriever_init, since no place to keep it is configured."""

    def __init__(self, configs: Mapping[str, Any], model: str, corpus: Corpus | None) -> None:
        """``configs`` is the backend's own part of index_backend_configs; ``model`` names the embedder."""

    def place(self, collection: str) -> str:
        """Where it is kept, for messages."""

    def load(self, collection: str) -> bool:
        """Open what is saved; False if there is nothing yet. Raises ``ToolError`` if it is stale or foreign."""

    def dimensions(self, collection: str) -> int | None:
        """Numbers in each of its vectors, also where ``load`` refuses it; None if nothing is there."""

    def make(self, vectors: Vectors, collection: str, overwrite: bool, corpus: Corpus) -> str:
        """Index a corpus' vectors (passages x dimensions). Returns what was done, for the log."""

    def close(self) -> None:
        """Let go of its files and connections."""

    def search(self, queries: Vectors, top_k: int, where: Where, collection: str) -> list[list[Hit]]:
        """For each row the nearest passages, nearest first, each once; as many as there are, if below ``top_k``."""
