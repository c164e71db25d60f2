"""The embedded default: every word of a query looks for its nearest word in the passage.

Late interaction (Khattab, Zaharia: ColBERT, SIGIR 2020) over WordLlama's static word vectors: a passage's score is the
mean, over the query's tokens, of the best cosine that a token of the passage reaches; tokens that few of the query's
passages hold count more. No download, no GPU.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rerankers import Reranker
from workbench.mcp.backends import word_llama


class WordMatches(Reranker):
    """The backend ``wordllama``."""

    settings = frozenset()

    def __init__(self, model: str, configs: Mapping[str, Any], batch_size: int) -> None:
        loaded = word_llama("the backend wordllama")
        self._tokenizer = loaded.tokenizer
        self._vectors = loaded.embedding

    async def scores(self, queries: Sequence[str], passages: Sequence[Sequence[str]]) -> list[list[float]]:
        return [
            await asyncio.to_thread(self._of_query, query, texts)
            for query, texts in zip(queries, passages, strict=True)
        ]

    def _of_query(self, query: str, passages: Sequence[str]) -> list[float]:
        import numpy as np

        asked = sorted(set(self._tokens_of_all([query])[0]))
        if not asked:
            return [0.0] * len(passages)
        held = self._tokens_of_all(passages)
        spread = Counter(token for tokens in held for token in set(tokens))
        weights = np.array([math.log(1 + (len(held) + 0.5) / (spread[token] + 0.5)) for token in asked])
        full = [n for n, tokens in enumerate(held) if tokens]
        scores = np.zeros(len(held))
        if full:
            # One product for all passages: many small ones are slow where BLAS has threads of its own.
            cosines = self._rows(asked) @ self._rows([token for n in full for token in held[n]]).T
            begins = np.cumsum([0, *(len(held[n]) for n in full[:-1])])
            scores[full] = weights @ np.maximum.reduceat(cosines, begins, axis=1) / weights.sum()
        found: list[float] = scores.tolist()
        return found

    def _tokens_of_all(self, texts: Sequence[str]) -> list[list[int]]:
        encoded = self._tokenizer.encode_batch([text.lower() for text in texts], add_special_tokens=False)
        return [one.ids for one in encoded]

    def _rows(self, tokens: Sequence[int]) -> Any:
        """The tokens' vectors, each of length 1."""
        import numpy as np

        rows = self._vectors[list(tokens)].astype(np.float32)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return rows / np.where(lengths == 0, 1, lengths)
