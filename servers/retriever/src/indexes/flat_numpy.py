"""numpy: the vectors in a .npy file, mapped into memory, searched by one matrix product."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from indexes import VectorIndexError
from indexes.flat import REMAKE, FlatIndex

if TYPE_CHECKING:
    import numpy as np
    from embedders import Vectors

_ROWS = 200_000
"""Vectors that are compared at once."""


class NumpyIndex(FlatIndex):
    """The backend ``numpy``; ``configs``: index_path."""

    backend = "numpy"
    _vectors: Vectors | None = None

    def _build(self, vectors: Vectors) -> None:
        self._vectors = vectors

    def _read_file(self, path: Path) -> None:
        import numpy as np

        try:
            self._vectors = np.load(path, mmap_mode="r", allow_pickle=False)
        except (ValueError, EOFError) as error:
            raise VectorIndexError(f"{path} is no index of numpy: {error}. {REMAKE}") from error

    def _write(self, path: Path) -> None:
        import numpy as np

        with path.open("wb") as file:  # np.save would add .npy to a name
            np.save(file, self._open(), allow_pickle=False)

    def _close(self) -> None:
        self._vectors = None

    def _is_open(self) -> bool:
        return self._vectors is not None

    def _size(self) -> int:
        return len(self._open())

    def _width(self) -> int:
        return int(self._open().shape[1])

    def _nearest(self, queries: Vectors, top_k: int, allowed: np.ndarray[Any, Any] | None) -> tuple[Vectors, Any]:
        import numpy as np

        vectors = self._open()
        scores = np.concatenate([queries @ vectors[at : at + _ROWS].T for at in range(0, len(vectors), _ROWS)], axis=1)
        if allowed is not None:
            scores[:, ~allowed] = -np.inf
        best = np.argpartition(-scores, top_k - 1, axis=1)[:, :top_k] if top_k < scores.shape[1] else None
        if best is None:
            order = np.argsort(-scores, axis=1, kind="stable")[:, :top_k]
        else:
            best.sort(axis=1)  # equal scores in the order of the corpus
            within = np.argsort(-np.take_along_axis(scores, best, axis=1), axis=1, kind="stable")
            order = np.take_along_axis(best, within, axis=1)
        return np.take_along_axis(scores, order, axis=1), order

    def _open(self) -> Vectors:
        if self._vectors is None:
            raise VectorIndexError("the index is not loaded")
        return self._vectors
