"""What the retriever server holds between its steps: the corpus, an embedder, and the indexes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from keywords import is_kept, load_keywords, save_keywords
from passages import Corpus
from vectors import Origin, VectorIndex, make_index, read_index, read_vectors, write_index, write_vectors

from workbench.cases.keywords import KeywordIndex

if TYPE_CHECKING:
    from embedders import Embedder

NOT_QUERIES = frozenset({"", "There is no query."})
"""What stands for "no query" (the custom server writes the second): nothing is searched for it."""


class RetrievalError(Exception):
    """A step came too early or asks for something impossible. ``str()`` says what to do."""


@dataclass
class Retriever:
    """Filled by ``retriever_init``; the indexes follow."""

    corpus: Corpus | None = None
    embedder: Embedder | None = None
    index_backend: str = "faiss"
    index_path: Path | None = None
    keywords_folder: Path | None = None
    index: VectorIndex | None = None
    keywords: KeywordIndex | None = None

    def load_index(self) -> None:
        """After ``retriever_init``: read the index file, or embed in memory where none is asked for."""
        if self.index_path is None:
            self.index = make_index(self.index_backend, self._embedder().embed(self._corpus().texts))
        elif self.index_path.is_file():
            self.index = read_index(self.index_backend, self.index_path, self._origin())
        else:
            print(
                f"no index at {self.index_path} yet: retriever_embed and retriever_index make it",
                file=sys.stderr,
            )

    def embed(self, path: Path, overwrite: bool) -> None:
        """Embed the corpus into a ``.npy`` file; one that is there and fits is kept, unless ``overwrite``."""
        if path.suffix != ".npy":
            raise RetrievalError(f"retriever.embedding_path must end in .npy; found {path}")
        if path.exists() and not overwrite:
            read_vectors(path, self._origin())
            print(f"{path} is there and fits; kept (overwrite: true makes it anew)", file=sys.stderr)
            return
        write_vectors(path, self._embedder().embed(self._corpus().texts), self._origin())

    def make_index(self, embedding_path: Path, overwrite: bool) -> None:
        """Index the vectors of ``embedding_path``; written to the index path where one is set."""
        if self.index_path is not None and self.index_path.exists() and not overwrite:
            self.index = read_index(self.index_backend, self.index_path, self._origin())
            return
        self.index = make_index(self.index_backend, read_vectors(embedding_path, self._origin()))
        if self.index_path is not None:
            write_index(self.index_path, self.index, self._origin())

    def search(self, queries: Sequence[str], top_k: int, instruction: str) -> list[list[str]]:
        """Queries x passages, nearest first; an empty query finds nothing."""
        check_top_k(top_k)
        if not queries:
            return []
        if self.index is None:
            raise RetrievalError(
                "the retriever has no index loaded: retriever.retriever_init must come before this step"
                + (
                    f", and retriever_embed and retriever_index, since there is no file {self.index_path}"
                    if self.index_path
                    else " (with a backend that embeds: bm25 does not)"
                )
            )
        asked = [n for n, query in enumerate(queries) if is_query(query)]
        results: list[list[str]] = [[] for _ in queries]
        if asked:
            vectors = self._embedder().embed([instruction + queries[n] for n in asked])
            for n, positions in zip(asked, self.index.search(vectors, top_k), strict=True):
                results[n] = self._texts(positions)
        return results

    def make_keywords(self, overwrite: bool) -> None:
        """Index the words of the corpus; kept in the BM25 folder where one is set."""
        folder, corpus = self.keywords_folder, self._corpus()
        if folder is not None and is_kept(folder) and not overwrite:
            self.keywords = load_keywords(folder, corpus.fingerprint)
            if self.keywords is None:
                raise RetrievalError(
                    f"the BM25 index in {folder} was made from another corpus than {corpus.path}: "
                    "set retriever.overwrite: true to make it anew, or name another save_path"
                )
            return
        self.keywords = KeywordIndex.of_texts(corpus.texts)
        if folder is not None:
            save_keywords(self.keywords, folder, corpus.fingerprint)

    def keyword_search(self, queries: Sequence[str], top_k: int) -> list[list[str]]:
        """Queries x passages by BM25, best first; only passages that share a word with the query."""
        check_top_k(top_k)
        if not queries:
            return []
        if self.keywords is None:
            # Made in memory on first use: a pipeline need not have a bm25_index step.
            self.keywords = KeywordIndex.of_texts(self._corpus().texts)
        keywords = self.keywords
        return [self._texts(keywords.search(query, top_k)) if is_query(query) else [] for query in queries]

    def _texts(self, positions: Sequence[int]) -> list[str]:
        texts = self._corpus().texts
        return [texts[position] for position in positions]

    def _corpus(self) -> Corpus:
        if self.corpus is None:
            raise RetrievalError(
                "the retriever has no corpus and no index loaded: retriever.retriever_init must come before this step"
            )
        return self.corpus

    def _embedder(self) -> Embedder:
        if self.embedder is None:
            raise RetrievalError(
                "the retriever has no model loaded: retriever.retriever_init must come before this step, "
                "with a backend that embeds (bm25 does not)"
            )
        return self.embedder

    def _origin(self) -> Origin:
        return Origin(self._embedder().name, self._corpus().fingerprint)


def is_query(text: str) -> bool:
    """Whether there is anything to search for."""
    return text.strip() not in NOT_QUERIES


def check_top_k(top_k: int) -> None:
    """``top_k`` is a whole number above 0."""
    if top_k < 1:
        raise RetrievalError(f"retriever.top_k must be 1 or more; found {top_k}")
