"""Qdrant: embedded in a folder, or a server by its URL."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from filters import Condition, Where
from hits import Hit

from indexes import VectorIndexError
from indexes.store import MODEL_KEY, Store
from workbench.mcp.backends import checked_count, need
from workbench.mcp.kit import output_path

if TYPE_CHECKING:
    from embedders import Vectors
    from passages import Corpus

_IDS = uuid.UUID("0b6c1f5e-7a53-4c0e-9c7b-6d0a4b1f2e90")
"""Qdrant's own ids are numbers and UUIDs: ours are UUIDs made of the passages' ids."""


class QdrantStore(Store):
    """The backend ``qdrant``; ``configs``: path or url, api_key, index_chunk_size, timeout."""

    backend = "qdrant"
    settings = frozenset({"path", "url", "api_key", "timeout", "index_chunk_size"})

    def __init__(self, configs: Mapping[str, Any], model: str, corpus: Corpus | None) -> None:
        super().__init__(configs, model, corpus)
        library = need("qdrant_client", "the index backend qdrant", "ragwb[qdrant]")
        self._models = library.models
        url, path = configs.get("url"), configs.get("path")
        if bool(url) == bool(path):
            raise VectorIndexError(
                "retriever.index_backend_configs.qdrant needs `path` (a folder, embedded) or `url` (a server), not both"
            )
        self._where = str(url or path)
        try:
            if url:
                where = "retriever.index_backend_configs.qdrant.timeout"
                seconds = checked_count(where, configs.get("timeout") or 60)
                self._client = library.QdrantClient(url=url, api_key=configs.get("api_key") or None, timeout=seconds)
            else:
                self._client = library.QdrantClient(path=str(output_path(str(path))))
        except RuntimeError as error:
            raise VectorIndexError(
                f"qdrant: the folder {path} is in use by another process; an embedded qdrant has one user at a time. "
                "End the other, or run a qdrant server and give its `url`"
            ) from error

    def _place(self, name: str) -> str:
        return f"qdrant collection {name} ({self._where})"

    def _exists(self, name: str) -> bool:
        try:
            return bool(self._client.collection_exists(name))
        except Exception as error:  # its HTTP library's own kinds
            raise VectorIndexError(f"qdrant at {self._where}: {error}; is it running, is the url right?") from error

    def _model_of(self, name: str) -> str | None:
        points, _ = self._client.scroll(name, limit=1, with_payload=[MODEL_KEY])
        return points[0].payload.get(MODEL_KEY) if points else None

    def _width(self, name: str) -> int:
        return int(self._client.get_collection(name).config.params.vectors.size)

    def _count(self, name: str) -> int:
        return int(self._client.count(name, exact=True).count)

    def _create(self, name: str, width: int) -> None:
        cosine = self._models.Distance.COSINE
        self._client.create_collection(name, vectors_config=self._models.VectorParams(size=width, distance=cosine))

    def _drop(self, name: str) -> None:
        self._client.delete_collection(name)

    def _put(self, name: str, ids: Sequence[str], vectors: Vectors, rows: Sequence[Mapping[str, Any]]) -> None:
        points = [
            self._models.PointStruct(
                id=str(uuid.uuid5(_IDS, own)),
                vector=vector.tolist(),
                payload={**self._kept(row), "id": own, "contents": row["contents"]},
            )
            for own, vector, row in zip(ids, vectors, rows, strict=True)
        ]
        self._client.upsert(name, points, wait=True)

    def _settle(self, name: str) -> None:
        """Each batch was waited for."""

    def _nearest(self, name: str, queries: Vectors, top_k: int, where: Where) -> list[list[Hit]]:
        requests = [
            self._models.QueryRequest(
                query=query.tolist(), limit=top_k, filter=self._filter(where), with_payload=["id", "contents"]
            )
            for query in queries
        ]
        answers = self._client.query_batch_points(name, requests=requests)
        return [
            [Hit(point.payload["id"], point.payload["contents"], point.score) for point in answer.points]
            for answer in answers
        ]

    def _filter(self, where: Where) -> Any:
        if not where:
            return None
        no = ("ne", "not_in")
        return self._models.Filter(
            must=[self._condition(one) for one in where if one.operator not in no],
            must_not=[self._condition(one) for one in where if one.operator in no],
        )

    def _condition(self, one: Condition) -> Any:
        m = self._models
        if one.operator in ("in", "not_in"):
            # One by one: its own "any of" takes no decimals, and no texts beside numbers.
            some = [self._condition(Condition(one.key, "eq", value)) for value in one.value]
            return m.Filter(should=some) if some else m.FieldCondition(key=one.key, match=m.MatchAny(any=[]))
        if one.operator in ("eq", "ne"):
            if isinstance(one.value, float):
                return m.FieldCondition(key=one.key, range=m.Range(gte=one.value, lte=one.value))
            return m.FieldCondition(key=one.key, match=m.MatchValue(value=one.value))
        if not isinstance(one.value, int | float):
            raise VectorIndexError(f"qdrant compares numbers only; search_filter.{one.key} has {one.value!r}")
        return m.FieldCondition(key=one.key, range=m.Range(**{one.operator: one.value}))
