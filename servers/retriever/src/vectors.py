"""Vectors on disk and the search among them: faiss where it is installed, else numpy."""

from __future__ import annotations

import importlib.util
import json
import logging
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from embedders import Vectors

INDEX_BACKENDS = ("faiss", "numpy")


class VectorsError(Exception):
    """Vectors or an index can't be used. ``str()`` names the file and the way out."""


@dataclass(frozen=True)
class Origin:
    """What vectors were made from; kept beside each file as ``<file>.json``."""

    model: str
    corpus: str
    """The corpus' fingerprint."""

    def check(self, other: Origin, path: Path) -> None:
        """Raises ``VectorsError`` if the file at ``path`` has another origin than this one."""
        for what, mine, theirs in (("model", self.model, other.model), ("corpus", self.corpus, other.corpus)):
            if mine != theirs:
                raise VectorsError(
                    f"{path} was made with another {what} ({theirs}, now {mine}): its results would be wrong."
                    " Run retriever_embed and retriever_index with overwrite: true, or name another file"
                )


class VectorIndex(Protocol):
    """Finds the nearest vectors by cosine."""

    def search(self, queries: Vectors, top_k: int) -> list[list[int]]:
        """For each row of ``queries`` the positions of the nearest vectors, nearest first, each once.

        As many as there are, if that is less than ``top_k``.
        """

    def write(self, path: Path) -> None:
        """Keep it in a file."""


class FaissIndex:
    """A flat inner-product index."""

    def __init__(self, vectors: Vectors) -> None:
        faiss = _faiss()
        self._index = faiss.IndexFlatIP(vectors.shape[1])
        self._index.add(vectors)

    @classmethod
    def read(cls, path: Path) -> FaissIndex:
        """From a file that ``write``, or faiss itself, wrote."""
        index = cls.__new__(cls)
        index._index = _faiss().read_index(str(path))
        return index

    def write(self, path: Path) -> None:
        _faiss().write_index(self._index, str(path))

    def search(self, queries: Vectors, top_k: int) -> list[list[int]]:
        _, positions = self._index.search(queries, min(top_k, self._index.ntotal))
        return [row.tolist() for row in positions]


class NumpyIndex:
    """The same by one matrix product."""

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors

    @classmethod
    def read(cls, path: Path) -> NumpyIndex:
        """From a file that ``write`` wrote."""
        return cls(_read_array(path))

    def write(self, path: Path) -> None:
        _write_array(path, self._vectors)

    def search(self, queries: Vectors, top_k: int) -> list[list[int]]:
        import numpy as np

        order = np.argsort(-(queries @ self._vectors.T), axis=1, kind="stable")
        return [row[:top_k].tolist() for row in order]


def make_index(backend: str, vectors: Vectors) -> VectorIndex:
    """An index in memory. Raises ``VectorsError`` for an unknown backend."""
    return _index_class(backend)(vectors)


def read_index(backend: str, path: Path, origin: Origin) -> VectorIndex:
    """An index from a file. Raises ``VectorsError`` if model, corpus or backend were others."""
    origin.check(_read_origin(path), path)
    try:
        return _index_class(backend).read(path)
    except (RuntimeError, ValueError) as error:
        raise VectorsError(f"{path} is no index of {backend}: {error}") from error


def write_index(path: Path, index: VectorIndex, origin: Origin) -> None:
    """Write an index and where it comes from."""
    index.write(path)
    _origin_file(path).write_text(json.dumps(asdict(origin)), encoding="utf-8")


def write_vectors(path: Path, vectors: Vectors, origin: Origin) -> None:
    """Write vectors (passages x dimensions) and where they come from."""
    _write_array(path, vectors)
    _origin_file(path).write_text(json.dumps(asdict(origin)), encoding="utf-8")


def read_vectors(path: Path, origin: Origin) -> Vectors:
    """Read vectors. Raises ``VectorsError`` if they are missing or come from another model or corpus."""
    if not path.is_file():
        raise VectorsError(f"{path}: there is no such file; run retriever.retriever_embed first")
    origin.check(_read_origin(path), path)
    return _read_array(path)


def _faiss() -> Any:
    """faiss, without its lines about every CPU extension that it tries."""
    logging.getLogger("faiss.loader").setLevel(logging.WARNING)
    import faiss

    return faiss


def _index_class(backend: str) -> type[FaissIndex] | type[NumpyIndex]:
    if backend not in INDEX_BACKENDS:
        raise VectorsError(f"unknown index_backend {backend!r}; known are {' and '.join(INDEX_BACKENDS)}")
    if backend == "faiss" and importlib.util.find_spec("faiss") is not None:
        return FaissIndex
    return NumpyIndex


def _write_array(path: Path, vectors: Vectors) -> None:
    import numpy as np

    with path.open("wb") as file:  # np.save would add .npy to a name
        np.save(file, vectors)


def _read_array(path: Path) -> Vectors:
    import numpy as np

    vectors: Vectors = np.load(path)
    return vectors


def _read_origin(path: Path) -> Origin:
    try:
        return Origin(**_json(_origin_file(path)))
    except (FileNotFoundError, TypeError, ValueError) as error:
        raise VectorsError(
            f"{path}: {_origin_file(path).name} beside it, which says what it was made from, can't be read; "
            "run retriever_embed and retriever_index with overwrite: true"
        ) from error


def _json(path: Path) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return value


def _origin_file(path: Path) -> Path:
    return path.with_name(f"{path.name}.json")
