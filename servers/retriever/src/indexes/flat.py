"""What the indexes in files share: one corpus, exact search, and where the file comes from."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hits import Hit
from origins import Origin, check_origin, check_place, origin_file, write_origin
from passages import passage_id

from indexes import VectorIndexError
from workbench.mcp.json_lines import write_whole
from workbench.mcp.kit import output_path

if TYPE_CHECKING:
    import numpy as np
    from embedders import Vectors
    from filters import Where
    from passages import Corpus

REMAKE = "Run retriever_embed and retriever_index with overwrite: true, or name another file"


class FlatIndex(ABC):
    """Vectors in the order of the corpus, compared with every query one by one."""

    backend: str
    keeps_passages = False
    settings = frozenset({"index_path"})

    def __init__(self, configs: Mapping[str, Any], model: str, corpus: Corpus | None) -> None:
        given = configs.get("index_path")
        self.path = Path(output_path(given)) if given else None
        self.model = model
        self.corpus = corpus
        self._collection: str | None = None

    @property
    def in_memory(self) -> bool:
        return self.path is None

    def place(self, collection: str) -> str:
        return str(self.path or "memory")

    def load(self, collection: str) -> bool:
        self._accept(collection)
        if self.path is None or not self.path.is_file():
            return False
        check_origin(self.path, self._corpus(), self._settings(), REMAKE)
        self._read_file(self.path)
        if self._size() != len(self._corpus()):
            raise VectorIndexError(
                f"{self.path} holds {self._size()} vectors for {len(self._corpus())} passages; {REMAKE}"
            )
        return True

    def dimensions(self, collection: str) -> int | None:
        if self._is_open():
            return self._width()
        if self.path is None or not self.path.is_file():
            return None
        try:
            self._read_file(self.path)
            return self._width()
        except VectorIndexError:
            return None
        finally:
            self._close()

    def make(self, vectors: Vectors, collection: str, overwrite: bool, corpus: Corpus) -> str:
        self._accept(collection)
        self.corpus = corpus
        if self.path is None:
            self._build(vectors)
            return "the index is in memory"
        if self.path.is_file() and not overwrite:
            self.load(collection)
            return f"{self.path} is there and fits; kept (overwrite: true makes it anew)"
        check_place(self.path)
        self._build(vectors)
        origin_file(self.path).unlink(missing_ok=True)
        write_whole(self.path, self._write)
        write_origin(self.path, Origin.of(corpus, self._settings()))
        return f"{self.path}: {len(vectors)} vectors"

    def search(self, queries: Vectors, top_k: int, where: Where, collection: str) -> list[list[Hit]]:
        self._accept(collection)
        allowed = self._corpus().allowed(where) if where else None
        count = self._size() if allowed is None else int(allowed.sum())
        if not count:
            return [[] for _ in queries]
        scores, positions = self._nearest(queries, min(top_k, count), allowed)
        return [
            [self._hit(n, score) for n, score in zip(ns, row, strict=True) if n >= 0]
            for ns, row in zip(positions.tolist(), scores.tolist(), strict=True)
        ]

    def _hit(self, position: int, score: float) -> Hit:
        record = self._corpus().record(position)
        return Hit(passage_id(record, position), record["contents"], score, position)

    def _settings(self) -> dict[str, Any]:
        return {"model": self.model}

    def _corpus(self) -> Corpus:
        if self.corpus is None:
            raise VectorIndexError(f"the index backend {self.backend} needs the corpus (retriever.corpus_path)")
        return self.corpus

    def _accept(self, collection: str) -> None:
        """A file holds one index, whatever it is called. Raises ``VectorIndexError`` if a second one is asked for."""
        if self._collection is None:
            self._collection = collection
            if collection:
                print(f"collection {collection!r}: {self.backend} has one, its file (index_path)", file=sys.stderr)
        elif collection not in ("", self._collection):
            raise VectorIndexError(
                f"retriever.collection_name: {collection!r} can't be used beside {self._collection or 'the index'!r}: "
                f"{self.backend} has no collections, it is one file (index_path); qdrant and milvus have them"
            )

    def close(self) -> None:
        self._close()

    @abstractmethod
    def _build(self, vectors: Vectors) -> None: ...

    @abstractmethod
    def _read_file(self, path: Path) -> None:
        """Raises ``VectorIndexError`` if it is no such index."""

    @abstractmethod
    def _write(self, path: Path) -> None: ...

    @abstractmethod
    def _close(self) -> None: ...

    @abstractmethod
    def _is_open(self) -> bool: ...

    @abstractmethod
    def _size(self) -> int: ...

    @abstractmethod
    def _width(self) -> int: ...

    @abstractmethod
    def _nearest(self, queries: Vectors, top_k: int, allowed: np.ndarray[Any, Any] | None) -> tuple[Vectors, Any]:
        """Scores and positions, queries x ``top_k``; -1 stands for none."""
