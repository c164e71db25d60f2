"""The embedded default: WordLlama's static word vectors, whose weights lie in its wheel."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from embedders import EmbedderError, unit_rows

if TYPE_CHECKING:
    from embedders import Vectors


class WordVectors:
    """The backend ``wordllama``."""

    name = "wordllama"

    def __init__(self, model: str, configs: Mapping[str, Any], batch_size: int) -> None:
        try:
            import wordllama
        except ImportError as error:
            raise EmbedderError("the backend wordllama is not installed: pip install wordllama") from error
        # Without cache_dir it looks for its tokenizer where the wheel does not put it, then on the network.
        folder = Path(wordllama.__file__).parent
        self._model = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
        self._batch_size = batch_size

    async def embed(self, texts: Sequence[str], *, queries: bool = False) -> Vectors:
        rows = await asyncio.to_thread(self._model.embed, list(texts), norm=False, batch_size=self._batch_size)
        return unit_rows(rows)
