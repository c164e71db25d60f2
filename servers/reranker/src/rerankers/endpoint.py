"""Rerank endpoints as Cohere, Jina, vLLM, TEI's kin and Infinity have them: POST .../rerank."""

from __future__ import annotations

import asyncio
import math
import os
from collections.abc import Mapping, Sequence
from typing import Any

from rerankers import Reranker, RerankError
from workbench.mcp.json_http import JsonService, quoted


class RerankEndpoint(Reranker):
    """The backend ``openai``; ``configs``: model_name, base_url, api_key, concurrency, retries, base_delay, timeout."""

    backend = "openai"
    default_url = ""
    settings = frozenset({"model_name", "base_url", "api_key", "concurrency", "retries", "base_delay", "timeout"})

    def __init__(self, model: str, configs: Mapping[str, Any], batch_size: int) -> None:
        self._model = str(configs.get("model_name") or model)
        base = str(configs.get("base_url") or self.default_url).rstrip("/")
        if not base:
            raise RerankError(
                f"reranker.backend_configs.{self.backend} needs `base_url`, e.g. http://127.0.0.1:8000/v1"
            )
        self._url = base if base.endswith("/rerank") else f"{base}/rerank"
        key = configs.get("api_key") or os.environ.get("RERANKER_API_KEY") or os.environ.get("LLM_API_KEY")
        self._service = JsonService.of(
            f"reranker {self._model}",
            f"the environment variable RERANKER_API_KEY or reranker.backend_configs.{self.backend}.api_key",
            {"Authorization": f"Bearer {key}"} if key else {},
            configs,
            concurrency=4,
            timeout=120,
        )

    async def close(self) -> None:
        await self._service.close()

    async def scores(self, queries: Sequence[str], passages: Sequence[Sequence[str]]) -> list[list[float]]:
        asked = (self._one(query, list(texts)) for query, texts in zip(queries, passages, strict=True))
        return list(await asyncio.gather(*asked))

    async def _one(self, query: str, texts: list[str]) -> list[float]:
        body = {"model": self._model, "query": query, "documents": texts, "top_n": len(texts)}
        answer = await self._service.post(self._url, body)
        rows = answer.get("results") if isinstance(answer, dict) else None
        if not isinstance(rows, list):
            keys = ", ".join(answer) if isinstance(answer, dict) else quoted(str(answer))
            raise RerankError(f"{self._service.name}: {self._url} answered without `results`; what came: {keys}")
        scores: dict[int, float] = {}
        for rank, row in enumerate(rows):
            place = _place(row, texts, scores)
            if place is None:
                raise RerankError(f"{self._service.name}: {self._url} gave a result of no passage: {quoted(str(row))}")
            # Best first: without a score, the rank is all there is to go by.
            score = row.get("relevance_score", row.get("score", -rank))
            if type(score) not in (int, float) or not math.isfinite(score):
                raise RerankError(
                    f"{self._service.name}: {self._url} gave a score that is no number: {quoted(str(row))}"
                )
            scores[place] = float(score)
        missing = len(texts) - len(scores)
        if missing:
            raise RerankError(
                f"{self._service.name}: asked {self._url} for {len(texts)} scores, {missing} did not come"
            )
        return [scores[n] for n in range(len(texts))]


class InfinityEndpoint(RerankEndpoint):
    """The backend ``infinity``: the same at its own address; without ``model_name`` it is model_name_or_path."""

    backend = "infinity"
    default_url = "http://127.0.0.1:7997"


def _place(row: Any, texts: Sequence[str], taken: Mapping[int, float]) -> int | None:
    """Which passage a result is of: by its index, else by its text."""
    if not isinstance(row, dict):
        return None
    index = row.get("index")
    if isinstance(index, int):
        return index if 0 <= index < len(texts) and index not in taken else None
    document = row.get("document")
    text = document.get("text") if isinstance(document, dict) else document
    return next((n for n, own in enumerate(texts) if own == text and n not in taken), None)
