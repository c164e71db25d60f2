"""What turns texts and images into vectors: a registry, and what every backend is to the retriever."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

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


class Embedder(ABC):
    """Texts to vectors, and images where the model takes them."""

    name: str
    """Backend and model: two embedders of one name give comparable vectors."""
    settings: ClassVar[frozenset[str] | None]
    """What it reads of its part of backend_configs; None where it hands all of it on."""

    @abstractmethod
    def __init__(self, model: str, configs: Mapping[str, Any], batch_size: int) -> None:
        """``configs`` is the backend's own part of backend_configs."""

    @abstractmethod
    async def embed(self, texts: Sequence[str], *, queries: bool = False) -> Vectors:
        """Texts x dimensions, float32, each row of length 1 or 0.

        ``queries``: the texts are questions, for models that embed those in another way than passages.
        """

    async def embed_images(self, images: Sequence[Path]) -> Vectors:
        """Images x dimensions, in the space of the texts. Raises ``EmbedderError``: most models know texts only."""
        raise EmbedderError(
            f"retriever.is_multimodal: {self.name} does not embed images; set retriever.backend to "
            "sentence_transformers with a model such as clip-ViT-B-32, or to infinity with one that it serves"
        )

    async def close(self) -> None:  # noqa: B027 - most have none
        """Let go of connections."""


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
