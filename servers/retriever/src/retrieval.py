"""What the retriever server holds between its steps: the corpus, an embedder, and the indexes."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastmcp.exceptions import ToolError
from filters import Where
from hits import Hit, maximal_marginal_relevance
from keywords import Keywords, best
from origins import Origin, OriginError, check_origin, check_place, origin_file, write_origin
from passages import Corpus, passage_id

from workbench.mcp.json_lines import write_whole

if TYPE_CHECKING:
    import numpy as np
    from embedders import Embedder, Vectors
    from indexes import VectorIndex

NOT_QUERIES = frozenset({"", "There is no query."})
"""What stands for "no query" (the custom server writes the second): nothing is searched for it."""
_EMBEDDED_AT_ONCE = 4096
"""Passages between two words about progress."""
_INIT_FIRST = "retriever.retriever_init must come before this step"
_REMAKE = "Run retriever_embed with overwrite: true, or name another embedding_path"

Progress = Callable[[int, int], Awaitable[None]]
"""Told how many of how many passages are embedded."""


class RetrievalError(ToolError):
    """A step came too early or asks for something impossible. ``str()`` says what to do."""


async def silent(done: int, total: int) -> None:
    """Tell nobody."""


@dataclass
class Retriever:
    """Filled by ``retriever_init``; the indexes follow."""

    corpus: Corpus | None = None
    embedder: Embedder | None = None
    index: VectorIndex | None = None
    keywords: Keywords | None = None
    collection: str = ""
    """The collection of retriever_init, for steps that name none."""
    of_images: bool = False
    """Whether passages are images, searched for by texts."""
    ready: set[str] = field(default_factory=set)
    """Collections whose index is loaded and fits the model."""
    warnings: list[str] = field(default_factory=list)
    """What there is to say of the corpus and the settings."""

    async def load_index(self, progress: Progress = silent) -> None:
        """After ``retriever_init``: open the saved index, or embed in memory where none is to be kept."""
        if self.index is None or self.embedder is None:
            return
        if self.index.in_memory:
            corpus = self.need_corpus()
            self.index.make(await self._embed_corpus(corpus, progress), self.collection, True, corpus)
            self.ready.add(self.collection)
        else:
            try:
                if not await self._open(self.collection):
                    print("no index yet: retriever_embed and retriever_index make it", file=sys.stderr)
            except ToolError as error:
                # The next steps may make it anew; a search would be refused with the same words.
                print(error, file=sys.stderr)

    async def embed(self, path: Path, overwrite: bool, progress: Progress = silent) -> str:
        """Embed the corpus into a ``.npy`` file; one that is there and fits is kept, unless ``overwrite``."""
        import numpy as np

        if path.suffix != ".npy":
            raise RetrievalError(f"retriever.embedding_path must end in .npy; found {path}")
        corpus, settings = self.need_corpus(), {"model": self.need_embedder().name}
        if path.exists() and not overwrite:  # noqa: ASYNC240 - a look at a local file
            check_origin(path, corpus, settings, _REMAKE)
            _vectors_in(path, len(corpus))
            return f"{path} is there and fits; kept (overwrite: true makes it anew)"
        check_place(path)
        vectors = await self._embed_corpus(corpus, progress)

        def write(part: Path) -> None:
            with part.open("wb") as file:  # np.save would add .npy to a name
                np.save(file, vectors, allow_pickle=False)

        origin_file(path).unlink(missing_ok=True)
        write_whole(path, write)
        write_origin(path, Origin.of(corpus, settings))
        return f"{path}: {len(vectors)} vectors of {vectors.shape[1]} numbers"

    def make_index(self, path: Path, overwrite: bool, collection: str, corpus: Corpus | None = None) -> str:
        """Index the vectors of ``path``, of ``corpus`` or else that of ``retriever_init``."""
        corpus = corpus or self.need_corpus()
        index = self._need_index()
        if not path.is_file():
            raise RetrievalError(f"{path}: there is no such file; run retriever.retriever_embed first")
        check_origin(path, corpus, {"model": self.need_embedder().name}, _REMAKE)
        vectors = _vectors_in(path, len(corpus))
        done = index.make(vectors, collection or self.collection, overwrite, corpus)
        self.ready.add(collection or self.collection)
        return done

    async def search(
        self, queries: Sequence[str], top_k: int, instruction: str, collection: str = "", where: Where = ()
    ) -> list[list[Hit]]:
        """Queries x passages, nearest first; an empty query finds nothing."""
        check_top_k(top_k)
        asked = [n for n, query in enumerate(queries) if is_query(query)]
        results: list[list[Hit]] = [[] for _ in queries]
        if not asked:
            return results
        collection = collection or self.collection
        index = await self.opened_index(collection)
        vectors = await self.need_embedder().embed([instruction + queries[n] for n in asked], queries=True)
        self._check_width(int(vectors.shape[1]), index.dimensions(collection))
        for n, hits in zip(asked, index.search(vectors, top_k, where, collection), strict=True):
            results[n] = hits
        return results

    async def opened_index(self, collection: str) -> VectorIndex:
        """The index, its collection loaded. Raises ``ToolError`` if there is none, or it does not fit."""
        index = self._need_index()
        if collection not in self.ready and not await self._open(collection):
            named = f" {collection!r}" if collection else ""
            raise RetrievalError(
                f"the retriever has no index{named} yet: retriever.retriever_embed and retriever.retriever_index "
                f"must come before this step, and make {index.place(collection)}"
            )
        return index

    def keyword_search(self, queries: Sequence[str], top_k: int, where: Where = ()) -> list[list[Hit]]:
        """Queries x passages by BM25, best first; only passages that share a word with the query."""
        check_top_k(top_k)
        self._refuse_images()
        if not any(is_query(query) for query in queries):
            return [[] for _ in queries]
        corpus, keywords = self.need_corpus(), self._need_keywords()
        if not keywords.is_ready and not keywords.load(corpus):
            # Made on first use, in memory: a pipeline need not have a bm25_index step.
            keywords.make(corpus, keep=False)
        allowed = corpus.allowed(where) if where else None
        return [self._best(query, top_k, allowed) if is_query(query) else [] for query in queries]

    def make_keywords(self, overwrite: bool) -> str:
        """Index the words of the corpus; kept in the BM25 folder where one is set."""
        self._refuse_images()
        corpus, keywords = self.need_corpus(), self._need_keywords()
        if not overwrite and keywords.load(corpus):
            return f"{keywords.folder} is there and fits; kept (overwrite: true makes it anew)"
        return keywords.make(corpus)

    async def spread(self, hits: Sequence[Hit], top_k: int, trade: float) -> list[Hit]:
        """The best passages that are not alike (MMR): ``trade`` is what their score counts, against their likeness."""
        import numpy as np

        if len(hits) < 2:
            return list(hits[:top_k])
        vectors = await self._vectors([hit.text for hit in hits])
        scores = np.array([hit.score for hit in hits], dtype=np.float32)
        span = float(np.ptp(scores))
        relevance = (scores - scores.min()) / span if span else np.ones_like(scores)
        chosen = maximal_marginal_relevance(relevance, vectors @ vectors.T, top_k, trade)
        return [hits[n] for n in chosen]

    async def close(self) -> None:
        """Let go of the index (an embedded store has one user at a time) and of connections."""
        if self.index is not None:
            self.index.close()
        if self.embedder is not None:
            await self.embedder.close()

    def need_corpus(self) -> Corpus:
        """The passages. Raises ``RetrievalError`` before ``retriever_init``."""
        if self.corpus is None:
            raise RetrievalError(f"the retriever has no corpus loaded: {_INIT_FIRST}")
        return self.corpus

    def need_embedder(self) -> Embedder:
        """The model. Raises ``RetrievalError`` before ``retriever_init``."""
        if self.embedder is None:
            raise RetrievalError(f"the retriever has no model loaded: {_INIT_FIRST}")
        return self.embedder

    def _best(self, query: str, top_k: int, allowed: np.ndarray[Any, Any] | None) -> list[Hit]:
        corpus, scores = self.need_corpus(), self._need_keywords().scores(query)
        if allowed is not None:
            scores = scores * allowed
        by_id = self.index is not None and self.index.keeps_passages
        return [_hit(corpus.record(n), n, float(scores[n]), by_id) for n in best(scores, top_k)]

    def _need_index(self) -> VectorIndex:
        if self.index is None:
            why = (
                "retriever.backend is bm25, which does not embed; bm25_search searches by words"
                if self.embedder is not None
                else _INIT_FIRST
            )
            raise RetrievalError(f"the retriever has no index loaded: {why}")
        return self.index

    def _need_keywords(self) -> Keywords:
        if self.keywords is None:
            raise RetrievalError(f"the retriever has no corpus loaded: {_INIT_FIRST}")
        return self.keywords

    async def _embed_corpus(self, corpus: Corpus, progress: Progress) -> Vectors:
        import numpy as np

        texts = iter(corpus.texts())
        parts: list[Vectors] = []
        for start in range(0, len(corpus), _EMBEDDED_AT_ONCE):
            count = min(_EMBEDDED_AT_ONCE, len(corpus) - start)
            parts.append(await self._vectors([next(texts) for _ in range(count)]))
            await progress(start + count, len(corpus))
        vectors = np.concatenate(parts)
        empty = int((~vectors.any(axis=1)).sum())
        if empty:
            self.warnings.append(
                f"{self.need_embedder().name} gave a vector of zeros for {empty:,} of {len(vectors):,} passages: "
                "no search tells them apart"
            )
        return vectors

    async def _vectors(self, passages: Sequence[str]) -> Vectors:
        """Of texts, or of images by their paths."""
        embedder = self.need_embedder()
        return await (embedder.embed_images([*map(Path, passages)]) if self.of_images else embedder.embed(passages))

    def _refuse_images(self) -> None:
        if self.of_images:
            raise RetrievalError("images have no words to search by (retriever.is_multimodal): use retriever_search")

    async def _open(self, collection: str) -> bool:
        index = self._need_index()
        try:
            opened = index.load(collection)
        except OriginError:
            # Another model shows in the lengths of the vectors first: that says more than a missing note.
            width = index.dimensions(collection)
            if width is not None:
                probe = await self.need_embedder().embed(["a"], queries=True)
                self._check_width(int(probe.shape[1]), width)
            raise
        if opened:
            self.ready.add(collection)
        return opened

    def _check_width(self, own: int, width: int | None) -> None:
        if width is not None and own != width:
            raise RetrievalError(
                f"the index has vectors of {width} numbers, the model {self.need_embedder().name} gives {own}: "
                "make the index anew (retriever_embed, retriever_index, overwrite: true), or take the model it was "
                "made with"
            )


def _vectors_in(path: Path, passages: int) -> Vectors:
    """The file's vectors, mapped into memory. Raises ``RetrievalError`` for one that is damaged or cut off."""
    import numpy as np

    try:
        vectors: Vectors = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise RetrievalError(f"{path} can't be read as vectors ({error}). {_REMAKE}") from error
    if vectors.ndim != 2 or len(vectors) != passages:
        raise RetrievalError(f"{path} holds {vectors.shape} numbers for {passages} passages. {_REMAKE}")
    return vectors


def _hit(record: Mapping[str, Any], position: int, score: float, by_id: bool) -> Hit:
    """``by_id``: a store finds passages by their ids, and those of both searches are to be told apart alike."""
    return Hit(passage_id(record, position), record["contents"], score, None if by_id else position)


def is_query(text: str) -> bool:
    """Whether there is anything to search for."""
    return text.strip() not in NOT_QUERIES


def check_top_k(top_k: int, name: str = "top_k") -> None:
    """``top_k``, or another number of passages, is a whole number above 0."""
    if top_k < 1:
        raise RetrievalError(f"retriever.{name} must be 1 or more; found {top_k}")
