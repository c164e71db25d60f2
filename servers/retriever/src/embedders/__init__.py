"""What turns texts into vectors: a registry, and what every backend is to the retriever."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from fastmcp.exceptions import ToolError

from workbench.mcp.backends import Backends

if TYPE_CHECKING:
    import numpy as np

    Vectors = np.ndarray[Any, np.dtype[np.float32]]

EMBEDDERS = Backends(
    "retriever.backend",
    {
        "wordllama": "embedders.word_vectors:WordVectors",
        "sentence_transformers": "embedders.sentence_transformers_model:SentenceTransformersModel",
        "openai": "embedders.openai_endpoint:OpenAIEndpoint",
        "infinity": "embedders.infinity_endpoint:InfinityEndpoint",
        "bm25": "embedders.no_embedder:NoEmbedder",
    },
)


class EmbedderError(ToolError):
    """An embedder can't be loaded or gave nothing usable. ``str()`` says what to do."""


class Embedder(Protocol):
    """Texts to vectors."""

    name: str
    """Backend and model: two embedders of one name give comparable vectors."""

    def __init__(self, model: str, configs: Mapping[str, Any], batch_size: int) -> None:
        """``configs`` is the backend's own part of backend_configs."""

    async def embed(self, texts: Sequence[str], *, queries: bool = False) -> Vectors:
        """Texts x dimensions, float32, each row of length 1 or 0.

        ``queries``: the texts are questions, for models that embed those in another way than passages.
        """


def unit_rows(rows: Any) -> Vectors:
    """float32 rows of length 1 (rows of zeros stay), so that a dot product is the cosine.

    Raises ``EmbedderError`` for rows with NaN or infinity in them.
    """
    import numpy as np

    vectors = np.asarray(rows, dtype=np.float32)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    bad = np.flatnonzero(~np.isfinite(lengths[:, 0]))
    if len(bad):
        raise EmbedderError(f"the model gave no finite numbers for {len(bad)} texts, the first is text {bad[0]}")
    lengths[lengths == 0] = 1
    units: Vectors = vectors / lengths
    return units
