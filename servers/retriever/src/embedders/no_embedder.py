"""The backend bm25: passages are found by their words alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from embedders import Embedder, EmbedderError

if TYPE_CHECKING:
    from embedders import Vectors


class NoEmbedder(Embedder):
    """Has a name, and nothing to embed with."""

    name = "bm25"
    settings = frozenset({"save_path", "lang", "tokenizer", "stopwords", "ranker"})
    """Read by the index of words (keywords.py)."""

    def __init__(self, model: str, configs: Mapping[str, Any], batch_size: int) -> None:
        """Nothing to load."""

    async def embed(self, texts: Sequence[str], *, queries: bool = False) -> Vectors:
        raise EmbedderError(
            "retriever.backend is bm25, which does not embed: set it to wordllama, which needs no download, "
            "or search with bm25_search"
        )
