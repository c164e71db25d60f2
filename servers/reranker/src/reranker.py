"""Passages in a better order: what a slower, closer look at question and passage says."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from fastmcp.exceptions import ToolError
from rerankers import RERANKERS, Reranker, RerankError

from workbench.mcp.backends import checked_count, part_of, unread
from workbench.mcp.kit import MarkedResult, ToolServer

app = ToolServer("reranker")

reranker: Reranker | None = None


@app.tool(output="model_name_or_path,backend_configs,batch_size,gpu_ids,backend->")
async def reranker_init(
    model_name_or_path: str,
    backend_configs: dict[str, Any],
    batch_size: int,
    gpu_ids: str | int | None = None,
    backend: str = "infinity",
) -> MarkedResult:
    """Load the model, or take down where it is served."""
    global reranker  # noqa: PLW0603 - the one thing this server holds
    if gpu_ids is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = str(gpu_ids)
    chosen, configs = RERANKERS.load(backend), part_of("reranker.backend_configs", backend_configs, backend)
    checked_count("reranker.batch_size", batch_size)
    # A large model loads for many seconds: the server goes on answering meanwhile.
    loaded: Reranker = await asyncio.to_thread(chosen, model_name_or_path, configs, batch_size)
    if reranker is not None:
        await reranker.close()
    reranker = loaded
    return MarkedResult({}, warnings=unread(f"reranker.backend_configs.{backend}", configs, loaded.settings))


@app.tool(output="q_ls,ret_psg,top_k,query_instruction->rerank_psg", outputs_from="rerank_outputs")
async def reranker_rerank(
    query_list: list[str],
    passages_list: list[list[str]],
    top_k: int = 5,
    query_instruction: str = "",
    ids_list: list[list[str]] | None = None,
) -> dict[str, Any]:
    """The best passages of each query, best first; with ``ids_list`` (queries x passages) their ids as well."""
    check(query_list, passages_list, ids_list, top_k)
    if reranker is None:
        raise RerankError("the reranker has no model loaded: reranker.reranker_init must come before this step")
    asked = [n for n, passages in enumerate(passages_list) if passages]
    queries = [query_instruction + query_list[n] for n in asked]
    found = await reranker.scores(queries, [passages_list[n] for n in asked]) if asked else []
    scores: list[list[float]] = [[] for _ in query_list]
    for n, row in zip(asked, found, strict=True):
        scores[n] = row
    orders = [sorted(range(len(row)), key=lambda at, row=row: (-row[at], at))[:top_k] for row in scores]
    result: dict[str, Any] = {
        "rerank_psg": [[row[at] for at in order] for row, order in zip(passages_list, orders, strict=True)],
        "rerank_scores": [[round(row[at], 6) for at in order] for row, order in zip(scores, orders, strict=True)],
    }
    if ids_list is not None:
        result["rerank_ids"] = [[row[at] for at in order] for row, order in zip(ids_list, orders, strict=True)]
    return result


def check(queries: list[str], passages: list[list[str]], ids: list[list[str]] | None, top_k: int) -> None:
    """Raises ``ToolError`` for lists that do not fit together."""
    if top_k < 1:
        raise ToolError(f"reranker.top_k must be 1 or more; found {top_k}")
    if len(queries) != len(passages):
        raise ToolError(f"{len(queries)} queries and {len(passages)} lists of passages: they must be as many")
    if ids is not None and [len(row) for row in ids] != [len(row) for row in passages]:
        raise ToolError("ids_list must have an id for each passage of passages_list")


if __name__ == "__main__":
    app.run(transport="stdio")
