"""The retriever over stdio on vector stores: an embedded qdrant and an embedded milvus, for real."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from fastmcp.exceptions import ToolError
from stdio import StdioServer, running

pytest.importorskip("qdrant_client", reason="pip install 'ragwb[qdrant]'")
pytest.importorskip("milvus_lite", reason="pip install 'ragwb[milvus]'")

FIRST = [
    {"id": "a", "contents": "the salt mill of Marl", "year": 1900, "tags": ["mill"]},
    {"id": "b", "contents": "the keeper of the north light", "year": 1950, "tags": ["light", "north"]},
]
SECOND = [{"id": "b", "contents": "the keeper of the south light"}, {"id": "c", "contents": "ferries leave at dawn"}]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def retriever(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[StdioServer]:
    async with running("retriever", tmp_path_factory.mktemp("stores")) as server:
        yield server


def write(path: Path, records: Sequence[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), encoding="utf-8")
    return str(path)


class Store:
    """One backend in one folder."""

    def __init__(self, server: StdioServer, backend: str, folder: Path) -> None:
        self.server, self.folder, self.backend = server, folder, backend
        place = {"qdrant": {"path": str(folder / "qdrant")}, "milvus": {"uri": str(folder / "m.db")}}
        self.options: dict[str, Any] = {
            "backend": "wordllama", "index_backend": backend, "index_backend_configs": {backend: place[backend]},
            "backend_configs": {}, "batch_size": 8, "model_name_or_path": "", "collection_name": "marsh",
        }  # fmt: skip

    async def init(self, records: Sequence[dict[str, Any]], **options: Any) -> None:
        corpus = write(self.folder / "corpus.jsonl", records)
        await self.server("retriever_init", corpus_path=corpus, **{**self.options, **options})

    async def index(self, records: Sequence[dict[str, Any]], *, overwrite: bool = False) -> str:
        await self.init(records)
        vectors = str(self.folder / "e.npy")
        await self.server("retriever_embed", embedding_path=vectors, overwrite=True)
        done: str = (await self.server("retriever_index", embedding_path=vectors, overwrite=overwrite))["done"]
        return done

    async def search(self, query: str, **options: Any) -> dict[str, Any]:
        found = await self.server("retriever_search", query_list=[query], **options)
        return {name: rows[0] for name, rows in found.items()}

    async def filtered(self, **search_filter: Any) -> list[str]:
        found = await self.server(
            "hybrid_search", query_list=["light mill"], searches=["dense"], search_filter=search_filter
        )
        return sorted(found["ret_ids"][0])


@pytest.fixture(params=["qdrant", "milvus"])
def store(request: pytest.FixtureRequest, retriever: StdioServer, tmp_path: Path) -> Store:
    return Store(retriever, request.param, tmp_path)


async def test_collections_grow_and_are_made_anew(store: Store) -> None:
    await store.init(FIRST)
    with pytest.raises(ToolError, match="no index 'marsh' yet"):
        await store.search("light")
    assert (await store.index(FIRST)).endswith("2 passages added, 0 replaced (same id), 2 in all")
    found = await store.search("lighthouse keeper", top_k=10)
    assert (found["ret_ids"], found["ret_psg"][0]) == (["b", "a"], FIRST[1]["contents"])
    assert found["ret_scores"] == sorted(found["ret_scores"], reverse=True)
    assert (await store.index(SECOND)).endswith("1 passages added, 1 replaced (same id), 3 in all")
    assert sorted((await store.search("light", top_k=10))["ret_ids"]) == ["a", "b", "c"]
    assert (await store.search("lighthouse keeper", top_k=1))["ret_psg"] == ["the keeper of the south light"]
    assert (await store.index(FIRST[:1], overwrite=True)).endswith("1 passages added, 0 replaced (same id), 1 in all")
    # What a store keeps needs no corpus file.
    (store.folder / "corpus.jsonl").unlink()
    await store.server("retriever_init", corpus_path=str(store.folder / "corpus.jsonl"), **store.options)
    assert (await store.search("light", top_k=10))["ret_ids"] == ["a"]


async def test_filters_are_the_stores_own(store: Store) -> None:
    await store.index([*FIRST, SECOND[1]])
    assert await store.filtered(year=1900) == ["a"]
    assert await store.filtered(year={"gte": 1900, "lt": 1950}) == ["a"]
    assert await store.filtered(year=[1950, 1]) == ["b"]


async def test_filters_mean_the_same_in_every_index(store: Store) -> None:
    records = [
        {"id": "a", "contents": "a mill", "tags": ["mill", "x"], "year": 1900, "price": 1.5},
        {"id": "b", "contents": "a light", "tags": ["light"], "kind": "q", "old": True},
        {"id": "c", "contents": "a ferry", "kind": "r", "tags": "mill"},
    ]
    await store.index(records)
    filters: list[dict[str, Any]] = [
        {"tags": "mill"}, {"tags": ["mill", "light"]}, {"tags": {"ne": "mill"}}, {"tags": {"not_in": ["light", "x"]}},
        {"kind": {"ne": "q"}}, {"kind": ["q", 3]}, {"price": [1.5]}, {"year": {"not_in": [1900]}}, {"old": True},
        {"id": ["a", "b"]}, {"id": {"ne": "a"}}, {"kind": []}, {"year": {"gt": 1899.5}}, {"year": {"ne": 1}},
    ]  # fmt: skip
    own = [await store.filtered(**one) for one in filters]
    await store.init(records, index_backend="faiss", index_backend_configs={})
    assert own == [await store.filtered(**one) for one in filters]
    assert own[:5] == [["a", "c"], ["a", "b", "c"], ["b"], ["c"], ["a", "c"]]


async def test_a_passage_that_both_searches_find_stands_once(store: Store) -> None:
    await store.index([*FIRST, SECOND[1]])
    found = await store.server("hybrid_search", query_list=["the salt mill"], top_k=5)
    assert sorted(found["ret_ids"][0]) == ["a", "b", "c"]
    assert found["ret_ids"][0][0] == "a"


async def test_vectors_of_another_model_or_length_are_refused(store: Store) -> None:
    await store.index(FIRST)
    collection = {"collection_name": "marsh"}
    import numpy as np
    from origins import Origin, write_origin
    from passages import Corpus

    path = store.folder / "short.npy"
    np.save(path, np.eye(2, dtype="float32"))
    write_origin(path, Origin.of(Corpus(store.folder / "corpus.jsonl"), {"model": "wordllama"}))
    with pytest.raises(ToolError, match="vectors of 256 numbers, wordllama gives 2"):
        await store.server("retriever_index", embedding_path=str(path), **collection)


async def test_an_id_stands_once_in_a_collection(store: Store) -> None:
    with pytest.raises(ToolError, match=r"1 ids stand more than once \(a\)"):
        await store.index([FIRST[0], FIRST[0]])


async def test_a_place_must_be_named(store: Store) -> None:
    with pytest.raises(ToolError, match=r"needs `(path|uri)`"):
        await store.init(FIRST, index_backend_configs={})


async def test_milvus_counts_bytes_and_refuses_before_it_writes(retriever: StdioServer, tmp_path: Path) -> None:
    store = Store(retriever, "milvus", tmp_path)
    texts = {"short": "盐坊", "zh": "盐" * 25000, "long": "x" * 70000}
    records = [{"id": name, "contents": text} for name, text in texts.items()]
    with pytest.raises(ToolError, match=r"zh \(75,000 bytes\), long \(70,000 bytes\); nothing was written"):
        await store.index(records)
    with pytest.raises(ToolError, match="no index 'marsh' yet"):
        await store.search("mill")


async def test_an_embedded_qdrant_has_one_user_at_a_time(retriever: StdioServer, tmp_path: Path) -> None:
    store = Store(retriever, "qdrant", tmp_path)
    await store.index(FIRST)
    async with running("retriever", tmp_path) as second:
        with pytest.raises(ToolError, match="in use by another process"):
            await Store(second, "qdrant", tmp_path).init(FIRST)
    await store.server("retriever_init", corpus_path=str(tmp_path / "corpus.jsonl"), **store.options)
    assert (await store.search("light", top_k=1))["ret_ids"] == ["b"]
