"""What a setting, a model's answer or a file must not be: refused with its name, before anything is made of it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import custom
import pytest
import pytest_asyncio
import reranker as reranking
import retriever as retrieving
from fake_endpoint import FakeEndpoint
from fastmcp import Client, FastMCP
from fastmcp.exceptions import ToolError

TEXTS = ["salt mill of Marl", "keeper of the north light", "the last document is about ferries"]


class Caller:
    """A server's tools, in this process; ``warnings`` are those of the last call."""

    def __init__(self, client: Client[Any]) -> None:
        self.client = client
        self.warnings: list[str] = []

    async def __call__(self, tool: str, **arguments: Any) -> Any:
        result = await self.client.call_tool(tool, arguments)
        self.warnings = ((result.meta or {}).get("ragwb") or {}).get("warnings", [])
        return result.structured_content


async def calling(app: FastMCP[Any]) -> AsyncIterator[Caller]:
    async with Client(app) as client:
        yield Caller(client)


@pytest_asyncio.fixture
async def retriever(project: Path) -> AsyncIterator[Caller]:
    async for caller in calling(retrieving.app):
        yield caller


def write(path: Path, records: Sequence[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return str(path)


async def init(server: Caller, folder: Path, records: Sequence[dict[str, Any]] | None = None, **options: Any) -> None:
    given = [{"id": str(n), "contents": text} for n, text in enumerate(TEXTS)] if records is None else records
    settings = {"backend": "bm25", "backend_configs": {}, "batch_size": 8, "model_name_or_path": "", **options}
    await server("retriever_init", corpus_path=write(folder / "corpus.jsonl", given), **settings)


def openai(endpoint: FakeEndpoint, model: str) -> dict[str, Any]:
    configs = {"openai": {"base_url": endpoint.url, "model_name": model}}
    return {"backend": "openai", "backend_configs": configs}


@pytest.mark.parametrize("size", [0, -1])
async def test_a_batch_of_nothing_makes_no_index(
    retriever: Caller, project: Path, endpoint: FakeEndpoint, size: int
) -> None:
    with pytest.raises(ToolError, match=rf"retriever\.batch_size must be a whole number from 1 on; found {size}"):
        await init(retriever, project, backend="wordllama", batch_size=size)
    async for reranker in calling(reranking.app):
        with pytest.raises(ToolError, match=rf"reranker\.batch_size .* found {size}"):
            await reranker(
                "reranker_init", model_name_or_path="", backend_configs={}, batch_size=size, backend="wordllama"
            )


@pytest.mark.parametrize("vector", ["[]", "null", '"AAAA"', '["a"]', "[true]"])
async def test_what_is_no_vector_is_quoted(
    retriever: Caller, project: Path, endpoint: FakeEndpoint, vector: str
) -> None:
    with pytest.raises(ToolError, match=r"/v1/embeddings gave no list of numbers as a vector, but "):
        await init(retriever, project, **openai(endpoint, f"vector {vector}"))


async def test_vectors_of_zeros_are_counted(retriever: Caller, project: Path, endpoint: FakeEndpoint) -> None:
    told = "gave a vector of zeros for 1 of 3 passages"
    await init(retriever, project, **openai(endpoint, "zeros"))
    assert [warning for warning in retriever.warnings if told in warning]
    await retriever("retriever_embed", embedding_path="e.npy")
    assert [warning for warning in retriever.warnings if told in warning]


@pytest.mark.parametrize("score", ["null", "NaN", '"0.5"'])
async def test_what_is_no_score_is_quoted(project: Path, endpoint: FakeEndpoint, score: str) -> None:
    configs = {"openai": {"base_url": endpoint.url, "model_name": f"score {score}"}}
    async for reranker in calling(reranking.app):
        await reranker("reranker_init", model_name_or_path="", backend_configs=configs, batch_size=4, backend="openai")
        with pytest.raises(ToolError, match=r"/v1/rerank gave a score that is no number: .*relevance_score"):
            await reranker("reranker_rerank", query_list=["Who mills?"], passages_list=[TEXTS])


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ('{"year": {"in": 1990}}', "year.in must be a list"),
        ('{"year": {"gt": true}}', "year.gt must be a number or text"),
        ('{"year": NaN}', "year must be a text, a number"),
        ('{"year": 1e999}', "year must be a text, a number"),
        ('{"year": {"near": 1990}}', "unknown operator 'near'"),
        ('{"year": ' + "[" * 100_000 + "}", "lies too deep|JSON|Expecting"),
    ],
)
async def test_a_models_filter_that_a_search_refuses_is_none(project: Path, answer: str, why: str) -> None:
    async for server in calling(custom.app):
        found = await server("read_filters", ans_ls=[answer, '{"year": 1990, "sky": 1}'], filter_keys=["year"])
        assert found == {"filter_ls": [{}, {"year": 1990}]}
        [warning] = server.warnings
        assert any(one in warning for one in why.split("|"))
        assert "[1] left out of its filter, not among filter_keys: sky" in warning


async def test_a_search_refuses_what_is_no_number(retriever: Caller, project: Path) -> None:
    await init(retriever, project)
    with pytest.raises(ToolError, match=r"retriever\.search_filter\.year must be .* found nan"):
        await retrieving.hybrid_search(["a"], searches=["bm25"], search_filter={"year": float("nan")})


async def test_an_id_that_leads_to_two_passages_is_refused(retriever: Caller, project: Path) -> None:
    parents = write(project / "parents.jsonl", [{"id": "a", "contents": "A"}, {"id": "a", "contents": "B"}])
    await init(retriever, project, [{"id": "x", "parent": "a", "contents": "one"}])
    with pytest.raises(ToolError, match=r"parents\.jsonl: the id 'a' stands there twice"):
        await retriever("parent_passages", ret_ids=[["x"]], parents_path=parents)
    parents = write(project / "whole.jsonl", [{"id": "a", "contents": "A"}, {"id": "b", "contents": "B"}])
    await init(retriever, project, [{"id": "x", "parent": p, "contents": "one"} for p in ("a", "b")])
    with pytest.raises(ToolError, match=r"corpus\.jsonl: the id 'x' stands there twice, with two parents, 'a' and 'b'"):
        await retriever("parent_passages", ret_ids=[["x"]], parents_path=parents)


async def test_a_ranking_votes_once_for_a_passage(retriever: Caller, project: Path) -> None:
    assert await retriever("fuse_rankings", ret_psg_ls=[[["b", "a", "a"]]]) == {"ret_psg": [["b", "a"]]}
