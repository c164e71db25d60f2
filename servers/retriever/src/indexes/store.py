"""What vector stores share: collections that grow, passages kept beside their vectors, and the model they are of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hits import Hit
from passages import passage_id

from indexes import VectorIndexError
from workbench.mcp.backends import checked_count

if TYPE_CHECKING:
    from embedders import Vectors
    from filters import Where
    from passages import Corpus

MODEL_KEY = "ragwb_model"
"""The key of a kept record that names the model of its vector."""
DEFAULT_COLLECTION = "passages"
_SHOWN = 5
"""Ids that a message names."""


class Store(ABC):
    """One collection a corpus, or many corpora in one: a passage whose id is there already replaces the old one."""

    backend: str
    settings: frozenset[str]
    keeps_passages = True
    in_memory = False
    _client: Any

    def __init__(self, configs: Mapping[str, Any], model: str, corpus: Corpus | None) -> None:
        self.configs = configs
        self.model = model
        where = f"retriever.index_backend_configs.{self.backend}.index_chunk_size"
        self.batch = checked_count(where, configs.get("index_chunk_size") or 1000)

    def place(self, collection: str) -> str:
        return self._place(collection or DEFAULT_COLLECTION)

    def load(self, collection: str) -> bool:
        name = collection or DEFAULT_COLLECTION
        if not self._exists(name):
            return False
        kept = self._model_of(name)
        if kept is not None and kept != self.model:
            raise VectorIndexError(
                f"{self._place(name)} was made with another model ({kept}, now {self.model}): its results would be "
                "wrong. Run retriever_embed and retriever_index with overwrite: true, or name another collection"
            )
        return True

    def dimensions(self, collection: str) -> int | None:
        name = collection or DEFAULT_COLLECTION
        return self._width(name) if self._exists(name) else None

    def make(self, vectors: Vectors, collection: str, overwrite: bool, corpus: Corpus) -> str:
        name = collection or DEFAULT_COLLECTION
        ids = [passage_id(record, n) for n, record in enumerate(corpus.records())]
        _refuse_repeated(ids, corpus)
        self._refuse_too_long(corpus)
        if overwrite and self._exists(name):
            self._drop(name)
        if self._exists(name):
            self._check_fit(name, vectors)
            before = self._count(name)
        else:
            self._create(name, int(vectors.shape[1]))
            before = 0
        for start, rows in _batches(corpus, self.batch):
            self._put(name, ids[start : start + len(rows)], vectors[start : start + len(rows)], rows)
        self._settle(name)
        after = self._count(name)
        new = after - before
        return f"{self._place(name)}: {new} passages added, {len(ids) - new} replaced (same id), {after} in all"

    def search(self, queries: Vectors, top_k: int, where: Where, collection: str) -> list[list[Hit]]:
        return self._nearest(collection or DEFAULT_COLLECTION, queries, top_k, where)

    def close(self) -> None:
        self._client.close()

    def _check_fit(self, name: str, vectors: Vectors) -> None:
        self.load(name)
        width = self._width(name)
        if width != vectors.shape[1]:
            raise VectorIndexError(
                f"{self._place(name)} has vectors of {width} numbers, {self.model} gives {vectors.shape[1]}; "
                "set overwrite: true to make the collection anew"
            )

    def _kept(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """What a store keeps of a record beside id, vector and text: plain values and lists of them, for filters."""
        own = {key: value for key, value in record.items() if key not in ("id", "contents") and _is_plain(value)}
        return {**own, MODEL_KEY: self.model}

    def _refuse_too_long(self, corpus: Corpus) -> None:  # noqa: B027 - most have no such limit
        """Raises ``VectorIndexError`` for passages that the store can't hold; most hold any."""

    @abstractmethod
    def _place(self, name: str) -> str:
        """The collection and where it is, for messages."""

    @abstractmethod
    def _exists(self, name: str) -> bool: ...

    @abstractmethod
    def _model_of(self, name: str) -> str | None:
        """The model of what it holds; None if it holds nothing, or what others put there."""

    @abstractmethod
    def _width(self, name: str) -> int: ...

    @abstractmethod
    def _count(self, name: str) -> int: ...

    @abstractmethod
    def _create(self, name: str, width: int) -> None: ...

    @abstractmethod
    def _drop(self, name: str) -> None: ...

    @abstractmethod
    def _put(self, name: str, ids: Sequence[str], vectors: Vectors, rows: Sequence[Mapping[str, Any]]) -> None: ...

    @abstractmethod
    def _settle(self, name: str) -> None:
        """Make what was put there findable at once."""

    @abstractmethod
    def _nearest(self, name: str, queries: Vectors, top_k: int, where: Where) -> list[list[Hit]]: ...


def too_long(what: str, lengths: Mapping[str, int], limit: int, parameter: str) -> VectorIndexError:
    """The refusal of texts above a store's limit, by id."""
    shown = ", ".join(f"{name} ({length:,} bytes)" for name, length in list(lengths.items())[:_SHOWN])
    more = f" and {len(lengths) - _SHOWN} more" if len(lengths) > _SHOWN else ""
    return VectorIndexError(
        f"{len(lengths)} passages have a longer {what} than the {limit:,} bytes of {parameter}: {shown}{more}; "
        "nothing was written. Cut them smaller (corpus.chunk_documents) or raise the limit"
    )


def _batches(corpus: Corpus, size: int) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    rows: list[dict[str, Any]] = []
    start = 0
    for record in corpus.records():
        rows.append(record)
        if len(rows) == size:
            yield start, rows
            start, rows = start + size, []
    if rows:
        yield start, rows


def _refuse_repeated(ids: Sequence[str], corpus: Corpus) -> None:
    repeated = [name for name, count in Counter(ids).items() if count > 1]
    if repeated:
        shown = ", ".join(repeated[:_SHOWN]) + (" ..." if len(repeated) > _SHOWN else "")
        raise VectorIndexError(
            f"{corpus.path}: {len(repeated)} ids stand more than once ({shown}); a collection holds each id once"
        )


def _is_plain(value: Any) -> bool:
    if isinstance(value, list):
        return all(isinstance(one, str | int | float | bool) for one in value)
    return isinstance(value, str | int | float | bool)
