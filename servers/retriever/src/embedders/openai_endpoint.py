"""An OpenAI-compatible ``/embeddings`` endpoint: OpenAI's own, Ollama's, vLLM's, llama.cpp's ..."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from embedders import Embedder, EmbedderError, unit_rows
from workbench.mcp.json_http import JsonService, quoted

if TYPE_CHECKING:
    from embedders import Vectors


class OpenAIEndpoint(Embedder):
    """The backend ``openai``; ``configs``: model_name, base_url, api_key, concurrency, retries, base_delay, timeout."""

    backend = "openai"
    default_url = "https://api.openai.com/v1"
    settings = frozenset({"model_name", "base_url", "api_key", "concurrency", "retries", "base_delay", "timeout"})

    def __init__(self, model: str, configs: Mapping[str, Any], batch_size: int) -> None:
        self._model = str(configs.get("model_name") or "")
        if not self._model:
            raise EmbedderError(f"retriever.backend_configs.{self.backend} needs `model_name`")
        base = str(configs.get("base_url") or self.default_url).rstrip("/")
        self._url = base if base.endswith("/embeddings") else f"{base}/embeddings"
        key = configs.get("api_key") or os.environ.get("RETRIEVER_API_KEY") or os.environ.get("LLM_API_KEY")
        self._service = JsonService.of(
            f"embedding model {self._model}",
            f"the environment variable RETRIEVER_API_KEY or retriever.backend_configs.{self.backend}.api_key",
            {"Authorization": f"Bearer {key}"} if key else {},
            configs,
            concurrency=4,
            timeout=120,
        )
        self._batch_size = max(1, batch_size)
        self.name = f"{self.backend}:{base}:{self._model}"

    async def embed(self, texts: Sequence[str], *, queries: bool = False) -> Vectors:
        batches = [texts[at : at + self._batch_size] for at in range(0, len(texts), self._batch_size)]
        rows = await asyncio.gather(*(self._batch(list(batch)) for batch in batches))
        return unit_rows([row for batch in rows for row in batch])

    async def close(self) -> None:
        await self._service.close()

    async def _batch(self, texts: list[str], **more: str) -> list[list[float]]:
        """The vectors in the order of the texts: an endpoint may answer in another order, by index."""
        # Plain numbers: base64, which OpenAI's own client asks for, is not known to every server.
        body = {"model": self._model, "input": texts, "encoding_format": "float", **more}
        answer = await self._service.post(self._url, body)
        data = answer.get("data") if isinstance(answer, dict) else None
        if not isinstance(data, list):
            raise EmbedderError(f"{self._service.name}: {self._url} answered without `data`: {quoted(str(answer))}")
        if len(data) != len(texts):
            raise EmbedderError(
                f"{self._service.name}: asked {self._url} for {len(texts)} vectors, got {len(data)}; nothing is kept"
            )
        try:
            by_index = {entry.get("index", n): entry["embedding"] for n, entry in enumerate(data)}
            rows = [by_index[n] for n in range(len(texts))]
        except (AttributeError, KeyError, TypeError) as error:
            first = quoted(str(data[0]))
            raise EmbedderError(f"{self._service.name}: {self._url} gave no vector for each text: {first}") from error
        other = next((row for row in rows if not _is_vector(row)), None)
        if not all(map(_is_vector, rows)):
            raise EmbedderError(
                f"{self._service.name}: {self._url} gave no list of numbers as a vector, but {quoted(str(other))}"
            )
        if len({len(row) for row in rows}) > 1:
            lengths = sorted({len(row) for row in rows})
            raise EmbedderError(f"{self._service.name}: {self._url} gave vectors of different lengths: {lengths}")
        return rows


def _is_vector(row: object) -> bool:
    return isinstance(row, list) and bool(row) and {*map(type, row)} <= {int, float}
