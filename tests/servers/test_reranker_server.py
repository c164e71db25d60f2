"""The reranker server over stdio: order, scores, endpoints and what they may answer."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import yaml
from fake_endpoint import FakeEndpoint
from fastmcp.exceptions import ToolError
from stdio import ROOT, StdioServer, running

QUERIES = ["Who grinds the flour?", "Who keeps the light?"]
PASSAGES = [["the lighthouse keeper", "a mill grinds oats to flour", "ferries"], ["a mill", "the keeper of the light"]]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def reranker(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[StdioServer]:
    async with running("reranker", tmp_path_factory.mktemp("reranker")) as server:
        yield server


async def init(server: StdioServer, backend: str, **configs: Any) -> None:
    await server(
        "reranker_init", model_name_or_path="some/model", backend_configs={backend: configs}, batch_size=4,
        backend=backend,
    )  # fmt: skip


async def rerank(server: StdioServer, **options: Any) -> Any:
    return await server("reranker_rerank", **{"query_list": QUERIES, "passages_list": PASSAGES, **options})


async def test_the_best_come_first_with_scores_and_ids(reranker: StdioServer) -> None:
    await init(reranker, "wordllama")
    found = await rerank(reranker, top_k=2, ids_list=[["a", "b", "c"], ["d", "e"]])
    assert [row[0] for row in found["rerank_psg"]] == [PASSAGES[0][1], PASSAGES[1][1]]
    assert [row[0] for row in found["rerank_ids"]] == ["b", "e"]
    assert [len(row) for row in found["rerank_psg"]] == [2, 2]
    assert all(row == sorted(row, reverse=True) for row in found["rerank_scores"])


async def test_a_query_without_passages_gets_none_and_is_not_asked(
    reranker: StdioServer, endpoint: FakeEndpoint
) -> None:
    await init(reranker, "openai", base_url=endpoint.url, model_name="rerank")
    found = await rerank(reranker, query_list=[*QUERIES, "?"], passages_list=[PASSAGES[0], [], ["a mill"]])
    assert found["rerank_psg"] == [[PASSAGES[0][1], *PASSAGES[0][::2]], [], ["a mill"]]
    assert [body["query"] for body in endpoint.bodies] in ([QUERIES[0], "?"], ["?", QUERIES[0]])
    assert endpoint.bodies[0]["top_n"] == len(endpoint.bodies[0]["documents"])


async def test_endpoints_may_answer_by_index_or_by_text(reranker: StdioServer, endpoint: FakeEndpoint) -> None:
    for model in ("rerank", "rerank-texts", "rerank-documents"):
        for backend in ("openai", "infinity"):
            await init(reranker, backend, base_url=f"{endpoint.url}/rerank", model_name=model)
            assert [row[0] for row in (await rerank(reranker))["rerank_psg"]] == [PASSAGES[0][1], PASSAGES[1][1]]
    await init(reranker, "infinity", base_url=endpoint.url)
    await rerank(reranker, query_instruction="Find: ")
    assert (endpoint.bodies[-1]["model"], endpoint.bodies[-1]["query"][:6]) == ("some/model", "Find: ")


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("rerank-404", r"http://127\.0\.0\.1:\d+/v1/rerank answered 404: 'Not Found'; is this path of the address"),
        ("rerank-noresults", r"/v1/rerank answered without `results`; what came: scores"),
        ("rerank-short", r"asked http.* for \d scores, 1 did not come"),
        ("rerank-odd", r"gave a result of no passage: .*99"),
        ("locked", r"answered 401: 'Wrong key.'; set the environment variable RERANKER_API_KEY"),
    ],
)
async def test_what_endpoints_may_do_wrong(
    reranker: StdioServer, endpoint: FakeEndpoint, model: str, message: str
) -> None:
    await init(reranker, "openai", base_url=endpoint.url, model_name=model)
    with pytest.raises(ToolError, match=message):
        await rerank(reranker)


async def test_what_can_not_be(reranker: StdioServer, tmp_path: Path) -> None:
    with pytest.raises(ToolError, match=r"unknown reranker\.backend 'cohere'; known are wordllama"):
        await init(reranker, "cohere")
    with pytest.raises(ToolError, match=r"openai needs `base_url`"):
        await init(reranker, "openai")
    await init(reranker, "wordllama")
    for options, message in [
        ({"passages_list": PASSAGES[:1]}, "2 queries and 1 lists of passages"),
        ({"top_k": 0}, "top_k must be 1 or more"),
        ({"ids_list": [["a"], ["b"]]}, "an id for each passage"),
    ]:
        with pytest.raises(ToolError, match=message):
            await rerank(reranker, **options)
    (tmp_path / "sentence_transformers.py").write_text("raise ImportError(name='sentence_transformers')")
    async with running("reranker", tmp_path, PYTHONPATH=f"{tmp_path}{os.pathsep}{ROOT}") as fresh:
        with pytest.raises(ToolError, match=r"reranker\.reranker_init must come before"):
            await rerank(fresh)
        with pytest.raises(ToolError, match=r"pip install 'ragwb\[sentence-transformers\]'"):
            await init(fresh, "sentence_transformers")


async def test_the_shipped_defaults_work(reranker: StdioServer) -> None:
    defaults = yaml.safe_load((ROOT / "servers/reranker/parameter.yaml").read_text())
    given = {
        name: defaults[name] for name in ("model_name_or_path", "backend_configs", "batch_size", "gpu_ids", "backend")
    }
    await reranker("reranker_init", **given)
    assert (await rerank(reranker, top_k=defaults["top_k"]))["rerank_psg"][0][0] == PASSAGES[0][1]
