"""Milvus: embedded in a file (Milvus Lite), or a cluster by its URL."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from filters import Condition, Where
from hits import Hit
from passages import passage_id

from indexes import VectorIndexError
from indexes.store import MODEL_KEY, Store, too_long
from workbench.mcp.backends import checked_count, need
from workbench.mcp.kit import output_path

if TYPE_CHECKING:
    from embedders import Vectors
    from passages import Corpus

_SIGNS = {"gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
_METRICS = ("IP", "COSINE")
"""Both are the cosine here, as all vectors have length 1. Of L2 the smaller would be the better."""


class MilvusStore(Store):
    """The backend ``milvus``.

    ``configs``: uri (a .db file, or an address), token, id_field_name, vector_field_name, text_field_name,
    id_max_length and text_max_length (bytes), metric_type, index_params, search_params, index_chunk_size.
    """

    backend = "milvus"
    settings = frozenset(
        {"uri", "token", "id_field_name", "vector_field_name", "text_field_name", "id_max_length", "text_max_length",
         "metric_type", "index_params", "search_params", "index_chunk_size"}
    )  # fmt: skip

    def __init__(self, configs: Mapping[str, Any], model: str, corpus: Corpus | None) -> None:
        super().__init__(configs, model, corpus)
        self._library = need("pymilvus", "the index backend milvus", "ragwb[milvus]")
        logging.getLogger("pymilvus").setLevel(logging.CRITICAL)  # what it logs, it also raises
        uri = str(configs.get("uri") or "")
        if not uri:
            raise VectorIndexError(
                "retriever.index_backend_configs.milvus needs `uri`: a file that ends in .db (embedded), or an address"
            )
        self._uri = uri if "://" in uri else str(output_path(uri))
        self._id = str(configs.get("id_field_name") or "id")
        self._vector = str(configs.get("vector_field_name") or "vector")
        self._text = str(configs.get("text_field_name") or "contents")
        where = "retriever.index_backend_configs.milvus"
        self._id_limit = checked_count(f"{where}.id_max_length", configs.get("id_max_length") or 64)
        self._text_limit = checked_count(f"{where}.text_max_length", configs.get("text_max_length") or 60_000)
        self._metric = str(configs.get("metric_type") or "IP").upper()
        if self._metric not in _METRICS:
            raise VectorIndexError(
                f"retriever.index_backend_configs.milvus.metric_type must be IP or COSINE; found {self._metric}"
            )
        if "://" not in uri:
            need("milvus_lite", "an embedded milvus", "ragwb[milvus]")
        try:
            self._client = self._library.MilvusClient(uri=self._uri, token=configs.get("token") or "")
        except Exception as error:  # of several kinds, not all of them MilvusException
            raise VectorIndexError(f"milvus at {uri}: {error}; is it running, is the uri right?") from error

    def _place(self, name: str) -> str:
        return f"milvus collection {name} ({self._uri})"

    def _exists(self, name: str) -> bool:
        return bool(self._client.has_collection(name))

    def _model_of(self, name: str) -> str | None:
        self._client.load_collection(name)
        rows = self._client.query(name, filter=f'{self._id} != ""', output_fields=[MODEL_KEY], limit=1)
        return rows[0].get(MODEL_KEY) if rows else None

    def _width(self, name: str) -> int:
        fields = self._client.describe_collection(name)["fields"]
        return next(int(field["params"]["dim"]) for field in fields if "dim" in field["params"])

    def _count(self, name: str) -> int:
        return int(self._client.query(name, filter="", output_fields=["count(*)"])[0]["count(*)"])

    def _create(self, name: str, width: int) -> None:
        types = self._library.DataType
        schema = self._client.create_schema(auto_id=False, enable_dynamic_field=True)
        schema.add_field(self._id, types.VARCHAR, is_primary=True, max_length=self._id_limit)
        schema.add_field(self._vector, types.FLOAT_VECTOR, dim=width)
        schema.add_field(self._text, types.VARCHAR, max_length=self._text_limit)
        index = self._client.prepare_index_params()
        given = {"index_type": "AUTOINDEX", **(self.configs.get("index_params") or {}), "metric_type": self._metric}
        index.add_index(field_name=self._vector, **given)
        self._client.create_collection(name, schema=schema, index_params=index)

    def _drop(self, name: str) -> None:
        self._client.drop_collection(name)

    def _put(self, name: str, ids: Sequence[str], vectors: Vectors, rows: Sequence[Mapping[str, Any]]) -> None:
        own = (self._id, self._vector, self._text)
        data = [
            {
                **{key: value for key, value in self._kept(row).items() if key not in own},
                self._id: passage,
                self._vector: vector.tolist(),
                self._text: row["contents"],
            }
            for passage, vector, row in zip(ids, vectors, rows, strict=True)
        ]
        self._client.upsert(name, data)

    def _settle(self, name: str) -> None:
        # Until it is flushed, each search of an embedded one takes seconds.
        self._client.flush(name)

    def _nearest(self, name: str, queries: Vectors, top_k: int, where: Where) -> list[list[Hit]]:
        self._client.load_collection(name)
        answers = self._client.search(
            name,
            data=queries.tolist(),
            anns_field=self._vector,
            limit=top_k,
            filter=" and ".join(self._expression(one) for one in where),
            output_fields=[self._id, self._text],
            search_params=self.configs.get("search_params") or {"metric_type": self._metric},
        )
        return [
            [Hit(str(hit["entity"][self._id]), hit["entity"][self._text], float(hit["distance"])) for hit in answer]
            for answer in answers
        ]

    def _refuse_too_long(self, corpus: Corpus) -> None:
        """Its limits are in bytes, not in letters."""
        texts: dict[str, int] = {}
        names: dict[str, int] = {}
        for n, record in enumerate(corpus.records()):
            own = passage_id(record, n)
            texts[own] = len(record["contents"].encode())
            names[own] = len(own.encode())
        where = "retriever.index_backend_configs.milvus"
        for what, lengths, limit, key in (
            ("text", texts, self._text_limit, f"{where}.text_max_length"),
            ("id", names, self._id_limit, f"{where}.id_max_length"),
        ):
            over = {name: length for name, length in lengths.items() if length > limit}
            if over:
                raise too_long(what, over, limit, key)

    def _expression(self, one: Condition) -> str:
        """A condition in Milvus' own words; values as JSON, which its literals are.

        As in filters.py: of a list one entry is enough, and a key that is missing is not equal to anything.
        """
        if not one.key.replace("_", "").isalnum():
            raise VectorIndexError(f"milvus filters by keys of letters, digits and _; found {one.key!r}")
        columns = {"id": self._id, "contents": self._text}
        key = columns.get(one.key, one.key)
        if one.operator in _SIGNS:
            return f"{key} {_SIGNS[one.operator]} {_literal(one.value)}"
        values = one.value if one.operator in ("in", "not_in") else (one.value,)
        ways = [f"{key} == {_literal(value)}" for value in values]
        if one.key not in columns:
            ways += [f"json_contains({key}, {_literal(value)})" for value in values]
        equal = f"({' or '.join(ways)})" if ways else f'{self._id} == ""'
        if one.operator in ("eq", "in"):
            return equal
        return f"not {equal}" if one.key in columns else f"(not exists {key} or not {equal})"


def _literal(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
