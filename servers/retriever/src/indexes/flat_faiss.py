"""faiss: a flat inner-product index in a file, mapped into memory."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indexes import VectorIndexError
from indexes.flat import FlatIndex
from workbench.mcp.backends import need

if TYPE_CHECKING:
    import numpy as np
    from embedders import Vectors

_ADDED_AT_ONCE = 100_000
"""Vectors: faiss would copy all of them otherwise."""
_WORTH_PARTS = 20_000
"""Vectors from which on handing one query to several threads costs less than it saves."""


class FaissIndex(FlatIndex):
    """The backend ``faiss``; ``configs``: index_path, which ends in .index."""

    backend = "faiss"
    _index: Any = None
    _threads: ThreadPoolExecutor | None = None

    def _build(self, vectors: Vectors) -> None:
        self._index = _faiss().IndexFlatIP(vectors.shape[1])
        for at in range(0, len(vectors), _ADDED_AT_ONCE):
            self._index.add(vectors[at : at + _ADDED_AT_ONCE])

    def _read_file(self, path: Path) -> None:
        faiss = _faiss()
        try:
            self._index = faiss.read_index(str(path), getattr(faiss, "IO_FLAG_MMAP_IFC", faiss.IO_FLAG_MMAP))
        except RuntimeError as error:
            reason = str(error).rpartition("Error: ")[2] or str(error)
            raise VectorIndexError(f"{path} is no index of faiss: {reason}") from error

    def _write(self, path: Path) -> None:
        _faiss().write_index(self._index, str(path))

    def _close(self) -> None:
        if self._threads is not None:
            self._threads.shutdown()
        self._index = self._threads = None

    def _is_open(self) -> bool:
        return self._index is not None

    def _size(self) -> int:
        return int(self._index.ntotal)

    def _width(self) -> int:
        return int(self._index.d)

    def _nearest(self, queries: Vectors, top_k: int, allowed: np.ndarray[Any, Any] | None) -> tuple[Vectors, Any]:
        faiss = _faiss()
        parts = faiss.omp_get_max_threads()
        if allowed is None and len(queries) == 1 and parts > 1 and self._size() >= _WORTH_PARTS:
            return self._nearest_by_parts(queries, top_k, parts)
        if allowed is None:
            found: tuple[Vectors, Any] = self._index.search(queries, top_k)
            return found
        import numpy as np

        bits = np.packbits(allowed, bitorder="little")
        chosen = faiss.SearchParameters(sel=faiss.IDSelectorBitmap(bits))
        found = self._index.search(queries, top_k, params=chosen)
        return found  # noqa: RET504 - its type

    def _nearest_by_parts(self, query: Vectors, top_k: int, parts: int) -> tuple[Vectors, Any]:
        """One query on all cores. faiss shares out queries, not vectors: by itself it would use one."""
        import numpy as np

        faiss, index = _faiss(), self._index
        vectors = faiss.rev_swig_ptr(index.get_xb(), index.ntotal * index.d).reshape(index.ntotal, index.d)
        edges = [len(vectors) * n // parts for n in range(parts + 1)]

        def nearest(start: int, end: int) -> tuple[Vectors, Any]:
            scores, positions = faiss.knn(
                query, vectors[start:end], min(top_k, end - start), faiss.METRIC_INNER_PRODUCT
            )
            return scores, positions + start

        if self._threads is None:
            self._threads = ThreadPoolExecutor(parts)
        found = list(self._threads.map(nearest, edges[:-1], edges[1:]))
        scores, positions = (np.concatenate(rows, axis=1) for rows in zip(*found, strict=True))
        order = np.argsort(-scores, axis=1, kind="stable")[:, :top_k]
        return np.take_along_axis(scores, order, axis=1), np.take_along_axis(positions, order, axis=1)


def _faiss() -> Any:
    """faiss, without its lines about every CPU extension that it tries."""
    logging.getLogger("faiss.loader").setLevel(logging.WARNING)
    return need("faiss", "the index backend faiss", "faiss-cpu")
