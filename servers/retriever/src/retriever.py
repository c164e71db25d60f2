"""Passages for questions: by words (BM25), by embeddings, by both, from another retriever, and from the web."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from fastmcp.exceptions import ToolError
from hits import RRF_K, Hit, reciprocal_rank_fusion, weighted_fusion
from opening import open_retriever
from parents import read_parents
from passages import Corpus
from project_memory import MemoryIndex
from quality import ranking_quality, ranking_table
from retrieval import Retriever, check_top_k, is_query
from search_choices import SEARCHES, by_filter, check_choices, check_rrf, without_passages
from websearch import SERVICES

from workbench.mcp.backends import part_of
from workbench.mcp.json_http import JsonService, quoted
from workbench.mcp.kit import MarkedResult, ToolServer, find_file, output_path, report
from workbench.mcp.paths import user_name

app = ToolServer("retriever")

retriever = Retriever()
memory = MemoryIndex()


@app.tool(
    output="model_name_or_path,backend_configs,batch_size,corpus_path,gpu_ids,is_multimodal,backend,index_backend,"
    "index_backend_configs,is_demo,collection_name->"
)
async def retriever_init(  # noqa: PLR0917 - UltraRAG's signature
    model_name_or_path: str,
    backend_configs: dict[str, Any],
    batch_size: int,
    corpus_path: str,
    gpu_ids: str | int | None = None,
    is_multimodal: bool = False,
    backend: str = "wordllama",
    index_backend: str = "faiss",
    index_backend_configs: dict[str, Any] | None = None,
    is_demo: bool = False,
    collection_name: str = "",
) -> MarkedResult:
    """Load the corpus, the model and the index; without an index file the passages are embedded in memory."""
    global retriever  # noqa: PLW0603 - the one thing this server holds
    if is_demo:
        raise ToolError("retriever.is_demo: there is no demo mode here; set it to false")
    settings = dict(locals())
    await retriever.close()
    retriever = Retriever()
    retriever = await open_retriever(settings, telling("embedded"))
    return MarkedResult({}, warnings=retriever.warnings)


@app.tool(output="embedding_path,overwrite,is_multimodal->")
async def retriever_embed(
    embedding_path: str | None = None, overwrite: bool = False, is_multimodal: bool = False
) -> MarkedResult:
    """Embed the corpus into a file."""
    if is_multimodal != retriever.of_images and retriever.corpus is not None:
        loaded = "images" if retriever.of_images else "texts"
        raise ToolError(f"retriever.is_multimodal is {is_multimodal}, but retriever_init loaded a corpus of {loaded}")
    path = Path(output_path(embedding_path or "output/embedding.npy"))
    told = len(retriever.warnings)
    done = await retriever.embed(path, overwrite, telling("embedded"))
    return MarkedResult({"done": done}, warnings=retriever.warnings[told:])


@app.tool(output="embedding_path,overwrite,collection_name,corpus_path->")
async def retriever_index(
    embedding_path: str, overwrite: bool = False, collection_name: str = "", corpus_path: str = ""
) -> dict[str, Any]:
    """Make the index from the embedded corpus, or add a corpus to a collection of a store."""
    corpus = None
    if corpus_path:
        path = find_file(corpus_path)
        own = retriever.corpus
        corpus = own if own is not None and own.path == path else Corpus(path, of_images=retriever.of_images)
    path = Path(output_path(embedding_path))
    return {"done": await asyncio.to_thread(retriever.make_index, path, overwrite, collection_name, corpus)}


@app.tool(output="q_ls,top_k,query_instruction,collection_name->ret_psg", outputs_from="search_outputs")
async def retriever_search(
    query_list: list[str], top_k: int = 5, query_instruction: str = "", collection_name: str = ""
) -> dict[str, Any]:
    """The nearest passages of each query, nearest first."""
    return outputs(await retriever.search(query_list, top_k, query_instruction, collection_name))


@app.tool(output="batch_query_list,top_k,query_instruction,collection_name->ret_psg_ls")
async def retriever_batch_search(
    batch_query_list: list[list[str]], top_k: int = 5, query_instruction: str = "", collection_name: str = ""
) -> dict[str, Any]:
    """The nearest passages of each query of each list."""
    flat = [query for queries in batch_query_list for query in queries]
    found = await retriever.search(flat, top_k, query_instruction, collection_name)
    return batched(found, batch_query_list)


@app.tool(output="q_ls,top_k,query_instruction,current_user_id,memory_folder->project_memory_content")
async def retriever_project_memory_search(
    query_list: list[str],
    top_k: int = 5,
    query_instruction: str = "",
    current_user_id: str = "",
    memory_folder: str = "output/memory",
) -> dict[str, Any]:
    """What was said before, nearest to each query: of a store's collection ``user_<id>``, else of the memory."""
    check_top_k(top_k)
    user = user_name(current_user_id)
    collection = f"user_{user}"
    index = retriever.index
    if index is not None and index.keeps_passages and index.dimensions(collection) is not None:
        found = await retriever.search(query_list, top_k, query_instruction, collection)
    else:
        folder = find_file(Path(memory_folder) / user / "project")
        asked = [n for n, query in enumerate(query_list) if is_query(query)]
        texts = [query_instruction + query_list[n] for n in asked]
        found = [[] for _ in query_list]
        hits = await memory.search(folder, retriever.need_embedder(), texts, top_k)
        for n, row in zip(asked, hits, strict=True):
            found[n] = row
    return {"project_memory_content": [[hit.text for hit in hits] for hits in found]}


@app.tool(output="overwrite->")
async def bm25_index(overwrite: bool = False) -> dict[str, Any]:
    """Index the words of the corpus."""
    return {"done": await asyncio.to_thread(retriever.make_keywords, overwrite)}


@app.tool(output="q_ls,top_k->ret_psg", outputs_from="search_outputs")
async def bm25_search(query_list: list[str], top_k: int = 5) -> dict[str, Any]:
    """The passages that share the most telling words with each query, best first."""
    return outputs(await asyncio.to_thread(retriever.keyword_search, query_list, top_k))


@app.tool(
    output="q_ls,top_k,query_instruction,collection_name,searches,candidates,fusion,fusion_weights,rrf_k,"
    "search_filter,mmr_lambda->ret_psg",
    outputs_from="search_outputs",
)
async def hybrid_search(  # noqa: PLR0917 - one parameter for each choice, as the others have
    query_list: list[str],
    top_k: int = 5,
    query_instruction: str = "",
    collection_name: str = "",
    searches: list[str] | None = None,
    candidates: int = 50,
    fusion: str = "rrf",
    fusion_weights: dict[str, float] | None = None,
    rrf_k: float = RRF_K,
    search_filter: dict[str, Any] | list[dict[str, Any]] | None = None,
    mmr_lambda: float | None = None,
) -> MarkedResult:
    """Passages found by words and by embeddings, fused; filtered by metadata and spread out (MMR) where asked for.

    A list of filters has one for each query.
    """
    check_top_k(top_k)
    check_top_k(candidates, "candidates")
    wanted = SEARCHES if searches is None else tuple(searches)
    check_choices(wanted, fusion, fusion_weights or {}, mmr_lambda, rrf_k)
    depth = max(top_k, candidates)
    found: dict[str, list[list[Hit]]] = {name: [[] for _ in query_list] for name in SEARCHES if name in wanted}
    for where, places in by_filter(search_filter, len(query_list)).items():
        queries = [query_list[place] for place in places]
        hits = {}
        if "bm25" in wanted:
            hits["bm25"] = await asyncio.to_thread(retriever.keyword_search, queries, depth, where)
        if "dense" in wanted:
            hits["dense"] = await retriever.search(queries, depth, query_instruction, collection_name, where)
        for name, rows in hits.items():
            for place, row in zip(places, rows, strict=True):
                found[name][place] = row
    results = []
    for n in range(len(query_list)):
        lists = {name: hits[n] for name, hits in found.items()}
        weights = {name: float(weight) for name, weight in (fusion_weights or {}).items()}
        fused = (
            next(iter(lists.values()))
            if len(lists) == 1
            else reciprocal_rank_fusion(lists, weights, rrf_k)
            if fusion == "rrf"
            else weighted_fusion(lists, weights)
        )
        results.append(
            fused[:top_k] if mmr_lambda is None else await retriever.spread(fused[:depth], top_k, mmr_lambda)
        )
    # A store holds more than the corpus that is loaded.
    known = None if retriever.index is not None and retriever.index.keeps_passages else retriever.corpus
    return MarkedResult(outputs(results), warnings=without_passages(results, query_list, search_filter, known))


@app.tool(output="ret_psg_ls,top_k,rrf_k->ret_psg")
def fuse_rankings(ret_psg_ls: list[list[list[str]]], top_k: int = 5, rrf_k: float = RRF_K) -> dict[str, Any]:
    """One ranking of the several that each item's queries gave (items x queries x passages), by reciprocal rank."""
    check_top_k(top_k)
    check_rrf(rrf_k)
    fused = []
    for rankings in ret_psg_ls:
        lists = {str(n): [Hit(text, text, 0.0) for text in passages] for n, passages in enumerate(rankings)}
        fused.append([hit.text for hit in reciprocal_rank_fusion(lists, {}, rrf_k)[:top_k]])
    return {"ret_psg": fused}


@app.tool(output="ret_ids,parents_path,parent_key,parent_top_k->ret_psg", outputs_from="search_outputs")
async def parent_passages(
    ret_ids: list[list[str]], parents_path: str, parent_key: str = "parent", parent_top_k: int | None = None
) -> dict[str, Any]:
    """What stands behind the passages that were found: of a question the passage, of a chunk its document.

    The records of the corpus that was searched name it under ``parent_key``; ``parents_path`` is the corpus it is in.
    """
    if parent_top_k is not None:
        check_top_k(parent_top_k, "parent_top_k")
    corpus, path = retriever.need_corpus(), find_file(parents_path)
    parents = await asyncio.to_thread(read_parents, corpus, path, parent_key)
    return outputs([parents.behind(ids, parent_top_k) for ids in ret_ids])


@app.tool(output="retriever_url,q_ls,top_k,query_instruction->ret_psg", outputs_from="search_outputs")
async def retriever_deploy_search(
    retriever_url: str, query_list: list[str], top_k: int = 5, query_instruction: str = ""
) -> dict[str, Any]:
    """Search by a retriever that is served at an address."""
    check_top_k(top_k)
    given = retriever_url if "://" in retriever_url else f"http://{retriever_url}"
    parts = urlsplit(given)
    url = urlunsplit((parts.scheme, parts.netloc, "/search", "", ""))
    body = {"query_list": query_list, "top_k": top_k, "query_instruction": query_instruction}
    async with JsonService("the served retriever", "retriever.retriever_url", timeout=120) as service:
        answer = await service.post(url, body)
    passages = answer.get("ret_psg") if isinstance(answer, dict) else None
    if not isinstance(passages, list) or len(passages) != len(query_list):
        raise ToolError(f"{url} did not give ret_psg for {len(query_list)} queries, but {quoted(str(answer))}")
    return {
        "ret_psg": passages,
        **{name: answer[name] for name in ("ret_ids", "ret_scores") if isinstance(answer.get(name), list)},
    }


@app.tool(
    output="q_ls,top_k,retrieve_thread_num,websearch_backend,websearch_backend_configs->ret_psg",
    outputs_from="search_outputs",
)
async def retriever_websearch(
    query_list: list[str],
    top_k: int | None = 5,
    retrieve_thread_num: int | None = 1,
    websearch_backend: str = "tavily",
    websearch_backend_configs: dict[str, Any] | None = None,
) -> MarkedResult:
    """Passages from the web for each query; their ids are addresses."""
    found, warnings = await search_web(
        query_list, top_k, retrieve_thread_num, websearch_backend, websearch_backend_configs
    )
    return MarkedResult(outputs(found), warnings=warnings)


@app.tool(output="batch_query_list,top_k,retrieve_thread_num,websearch_backend,websearch_backend_configs->ret_psg_ls")
async def retriever_batch_websearch(
    batch_query_list: list[list[str]],
    top_k: int | None = 5,
    retrieve_thread_num: int | None = 1,
    websearch_backend: str = "tavily",
    websearch_backend_configs: dict[str, Any] | None = None,
) -> MarkedResult:
    """Passages from the web for each query of each list."""
    flat = [query for queries in batch_query_list for query in queries]
    found, warnings = await search_web(flat, top_k, retrieve_thread_num, websearch_backend, websearch_backend_configs)
    return MarkedResult(batched(found, batch_query_list), warnings=warnings)


@app.tool(output="ret_ids,gold_ids->ranking_scores", whole=("ranking_scores",))
def score_rankings(ret_ids: list[list[str]], gold_ids: list[list[str]]) -> dict[str, Any]:
    """How well searches found the gold passages: recall@5, MRR, nDCG@10, each for every query and as a mean."""
    return ranking_quality(ret_ids, gold_ids)


@app.tool(output="bm25_scores,dense_scores,hybrid_scores,rerank_scores->ranking_table", whole=("ranking_table",))
def compare_rankings(
    bm25_scores: dict[str, Any],
    dense_scores: dict[str, Any],
    hybrid_scores: dict[str, Any],
    rerank_scores: dict[str, Any],
) -> dict[str, Any]:
    """The means of four ways of searching side by side."""
    ways = {"bm25": bm25_scores, "dense": dense_scores, "hybrid": hybrid_scores, "hybrid + rerank": rerank_scores}
    return {"ranking_table": ranking_table(ways)}


async def search_web(
    queries: Sequence[str], top_k: int | None, threads: int | None, backend: str, configs: dict[str, Any] | None
) -> tuple[list[list[Hit]], list[str]]:
    """Queries x pages by one of the services, and its warnings."""
    count = 5 if top_k is None else top_k
    check_top_k(count)
    own = part_of("retriever.websearch_backend_configs", configs, backend)
    web = SERVICES.load(backend)(own, threads or 1)
    async with web.service:
        found: list[list[Hit]] = await web.search([query if is_query(query) else "" for query in queries], count)
    return found, web.warnings


def outputs(found: Sequence[Sequence[Hit]]) -> dict[str, Any]:
    """Passages, scores and ids, each queries x passages; the last two reach the pool where a pipeline asks for them."""
    return {
        "ret_psg": [[hit.text for hit in hits] for hits in found],
        "ret_scores": [[round(hit.score, 6) for hit in hits] for hits in found],
        "ret_ids": [[hit.id for hit in hits] for hits in found],
    }


def batched(found: Sequence[Sequence[Hit]], queries: Sequence[Sequence[str]]) -> dict[str, Any]:
    """The same, lists x queries x passages."""
    rows = iter(found)
    lists = [[next(rows) for _ in some] for some in queries]
    parts = [outputs(hits) for hits in lists]
    return {f"{name}_ls": [part[name] for part in parts] for name in ("ret_psg", "ret_scores", "ret_ids")}


def telling(what: str) -> Callable[[int, int], Awaitable[None]]:
    """A progress that reaches the client, where there is one."""

    async def tell(done: int, total: int) -> None:
        try:
            await report(done, total, f"{done:,} of {total:,} passages {what}")
        except RuntimeError:  # called outside a request
            print(f"{done:,} of {total:,} passages {what}", file=sys.stderr)

    return tell


if __name__ == "__main__":
    app.run(transport="stdio")
