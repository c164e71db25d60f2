"""faiss: a flat inner-product index in a file, mapped into memory."""

from __future__ import annotations

import logging
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


class FaissIndex(FlatIndex):
    """The backend ``faiss``; ``configs``: index_path, which ends in .index."""

    backend = "faiss"
    _index: Any = None

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
        self._index = None

    def _is_open(self) -> bool:
        return self._index is not None

    def _size(self) -> int:
        return int(self._index.ntotal)

    def _width(self) -> int:
        return int(self._index.d)

    def _nearest(self, queries: Vectors, top_k: int, allowed: np.ndarray[Any, Any] | None) -> tuple[Vectors, Any]:
        if allowed is None:
            found: tuple[Vectors, Any] = self._index.search(queries, top_k)
            return found
        import numpy as np

        faiss = _faiss()
        bits = np.packbits(allowed, bitorder="little")
        chosen = faiss.SearchParameters(sel=faiss.IDSelectorBitmap(bits))
        found = self._index.search(queries, top_k, params=chosen)
        return found  # noqa: RET504 - its type


def _faiss() -> Any:
    """faiss, without its lines about every CPU extension that it tries."""
    logging.getLogger("faiss.loader").setLevel(logging.WARNING)
    return need("faiss", "the index backend faiss", "faiss-cpu")
