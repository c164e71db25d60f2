"""The embedded default: WordLlama's static word vectors, whose weights lie in its wheel."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from embedders import Embedder, unit_rows
from workbench.mcp.backends import word_llama

if TYPE_CHECKING:
    from embedders import Vectors


class WordVectors(Embedder):
    """The backend ``wordllama``."""

    name = "wordllama"
    settings = frozenset()

    def __init__(self, model: str, configs: Mapping[str, Any], batch_size: int) -> None:
        self._model = word_llama("the backend wordllama")
        self._batch_size = batch_size

    async def embed(self, texts: Sequence[str], *, queries: bool = False) -> Vectors:
        rows = await asyncio.to_thread(self._model.embed, list(texts), norm=False, batch_size=self._batch_size)
        return unit_rows(rows)
