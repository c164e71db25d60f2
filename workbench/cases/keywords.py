"""BM25 over words (Robertson and Zaragoza 2009), for English and for text without blanks between words.

The retriever server searches with it, and the study of a run ranks with it: so both mean the same rank.

The weights are rank_bm25's Okapi but for the idf, which is Lucene's ``log(1 + (N - n + 0.5) / (n + 0.5))``:
it is above zero for every word, also for one in half of the passages, where Okapi's is zero or less.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from typing import Any

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_RUN = re.compile(rf"(?P<cjk>[{_CJK}]+)|[^\W_{_CJK}]+")


def tokenize(text: str) -> list[str]:
    """Lower-case words; a run of Chinese, Japanese or Korean gives its characters and pairs of characters."""
    tokens = []
    for run in _RUN.finditer(unicodedata.normalize("NFKC", text).lower()):
        characters = run["cjk"]
        if characters is None:
            tokens.append(run[0])
        else:
            tokens += [*characters, *(characters[at : at + 2] for at in range(len(characters) - 1))]
    return tokens


class KeywordIndex:
    """BM25 over one corpus."""

    def __init__(self, tokens: Sequence[Sequence[str]]) -> None:
        """``tokens``: passages x tokens."""
        self.tokens = [list(passage) for passage in tokens]
        # rank_bm25 divides by the number of words: a corpus without any word matches nothing.
        self._ranker = _ranker(self.tokens) if any(self.tokens) else None

    @classmethod
    def of_texts(cls, texts: Sequence[str]) -> KeywordIndex:
        """Tokenize and index."""
        return cls([tokenize(text) for text in texts])

    def search(self, query: str, top_k: int) -> list[int]:
        """Positions of the best passages, best first, equal scores in the order of the corpus.

        Only passages that share a word with the query: there may be fewer than ``top_k``, also none.
        """
        scores = self.scores(query)
        order = sorted((n for n, score in enumerate(scores) if score > 0), key=lambda n: (-scores[n], n))
        return order[:top_k]

    def scores(self, query: str) -> list[float]:
        """One score per passage; 0 where it shares no word with the query."""
        scores: list[float] = self.scores_of(tokenize(query)).tolist()
        return scores

    def scores_of(self, words: Sequence[str]) -> Any:
        """The same as an array, for a query that is cut into words already."""
        if self._ranker is None:
            import numpy as np

            return np.zeros(len(self.tokens))
        return self._ranker.get_scores(words)


def _ranker(tokens: list[list[str]]) -> Any:
    from rank_bm25 import BM25Okapi

    class PositiveBM25(BM25Okapi):  # type: ignore[misc]
        def _calc_idf(self, passages_with: dict[str, int]) -> None:
            for word, count in passages_with.items():
                self.idf[word] = math.log(1 + (self.corpus_size - count + 0.5) / (count + 0.5))

    return PositiveBM25(tokens)
