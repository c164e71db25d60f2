"""The backend bm25: passages are found by their words alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from embedders import EmbedderError

if TYPE_CHECKING:
    from embedders import Vectors


class NoEmbedder:
    """Has a name, and nothing to embed with."""

    name = "bm25"

    def __init__(self, model: str, configs: Mapping[str, Any], batch_size: int) -> None:
        """Nothing to load."""

    async def embed(self, texts: Sequence[str], *, queries: bool = False) -> Vectors:
        raise EmbedderError(
            "retriever.backend is bm25, which does not embed: set it to wordllama, which needs no download, "
            "or search with bm25_search"
        )
