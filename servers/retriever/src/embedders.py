"""What turns texts into vectors: the embedded word vectors, sentence-transformers, or an endpoint."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np

    Vectors = np.ndarray[Any, np.dtype[np.float32]]


class EmbedderError(Exception):
    """An embedder can't be loaded or gave nothing usable. ``str()`` says what to do."""


class Embedder(Protocol):
    """Texts to vectors."""

    name: str
    """Backend and model: two embedders of one name give comparable vectors."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Texts x dimensions, float32, each row of length 1."""


def load_embedder(
    backend: str, model: str, configs: Mapping[str, Any], batch_size: int, gpu_ids: str | int | None
) -> Embedder:
    """The embedder of a backend; ``configs`` is the backend's own part of backend_configs."""
    if backend == "wordllama":
        return WordVectors(batch_size)
    if backend == "sentence_transformers":
        if gpu_ids is not None:
            os.environ["CUDA_VISIBLE_DEVICES"] = str(gpu_ids)
        return SentenceTransformerModel(model, configs, batch_size)
    if backend == "openai":
        return EmbeddingEndpoint(configs, batch_size)
    raise EmbedderError(
        f"unknown retriever backend {backend!r}; known are wordllama, sentence_transformers, openai and bm25"
    )


class WordVectors:
    """WordLlama's static vectors, whose weights lie in its wheel."""

    name = "wordllama"

    def __init__(self, batch_size: int) -> None:
        try:
            import wordllama
        except ImportError as error:
            raise EmbedderError("the backend wordllama is not installed: pip install wordllama") from error
        # Without cache_dir it looks for its tokenizer where the wheel does not put it, then on the network.
        folder = Path(wordllama.__file__).parent
        self._model = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
        self._batch_size = batch_size

    def embed(self, texts: Sequence[str]) -> Vectors:
        return unit_rows(self._model.embed(list(texts), norm=True, batch_size=self._batch_size))


class SentenceTransformerModel:
    """Any model of sentence-transformers, by name or folder."""

    def __init__(self, model: str, configs: Mapping[str, Any], batch_size: int) -> None:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise EmbedderError(
                "the backend sentence_transformers is not installed: pip install torch sentence-transformers "
                "(some 1.4 GB), or set retriever.backend to wordllama"
            ) from error
        self.name = f"sentence_transformers:{model}"
        self._model = SentenceTransformer(model, **{k: v for k, v in configs.items() if v is not None})
        self._batch_size = batch_size

    def embed(self, texts: Sequence[str]) -> Vectors:
        return unit_rows(self._model.encode(list(texts), batch_size=self._batch_size, show_progress_bar=False))


class EmbeddingEndpoint:
    """An OpenAI-compatible ``/embeddings`` endpoint."""

    def __init__(self, configs: Mapping[str, Any], batch_size: int) -> None:
        from openai import OpenAI

        if not configs.get("model_name"):
            raise EmbedderError("retriever.backend_configs.openai needs `model_name`")
        self._model = str(configs["model_name"])
        self._url = str(configs.get("base_url") or "https://api.openai.com/v1")
        key = configs.get("api_key") or os.environ.get("RETRIEVER_API_KEY") or os.environ.get("LLM_API_KEY")
        self._client = OpenAI(base_url=self._url, api_key=key or "none")
        self._batch_size = batch_size
        self.name = f"openai:{self._url}:{self._model}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        batches = [texts[at : at + self._batch_size] for at in range(0, len(texts), self._batch_size)]
        return unit_rows([vector for batch in batches for vector in self._batch(list(batch))])

    def _batch(self, texts: list[str]) -> list[list[float]]:
        """The vectors in the order of the texts: an endpoint may answer in another order, by index."""
        from openai import OpenAIError

        try:
            # Plain numbers: the client's default, base64, is not known to every server.
            answer = self._client.embeddings.create(model=self._model, input=texts, encoding_format="float")
        except OpenAIError as error:
            raise EmbedderError(f"{self._url}/embeddings, model {self._model}: {error}") from error
        data = answer.data or []
        vectors = {entry.index: entry.embedding for entry in data}
        if sorted(vectors) != list(range(len(texts))):
            raise EmbedderError(
                f"{self._url}/embeddings, model {self._model}: {len(data)} vectors for {len(texts)} texts"
            )
        return [vectors[index] for index in range(len(texts))]


def unit_rows(rows: Any) -> Vectors:
    """float32 rows of length 1 (rows of zeros stay), so that a dot product is the cosine."""
    import numpy as np

    vectors = np.asarray(rows, dtype=np.float32)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    units: Vectors = (vectors / np.where(lengths == 0, 1, lengths)).astype(np.float32, copy=False)
    return units
