"""An Infinity server: OpenAI's protocol at its own address, the model named as for a local one, and images too."""

from __future__ import annotations

import asyncio
import base64
import mimetypes
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from embedders import unit_rows
from embedders.openai_endpoint import OpenAIEndpoint

if TYPE_CHECKING:
    from embedders import Vectors

_IMAGES_AT_ONCE = 8
"""In a request: they go along whole, and Infinity takes fewer of them than of texts."""


class InfinityEndpoint(OpenAIEndpoint):
    """The backend ``infinity``; without ``model_name`` it is retriever.model_name_or_path."""

    backend = "infinity"
    default_url = "http://127.0.0.1:7997"

    def __init__(self, model: str, configs: Mapping[str, Any], batch_size: int) -> None:
        super().__init__(model, {**configs, "model_name": configs.get("model_name") or model}, batch_size)

    async def embed_images(self, images: Sequence[Path]) -> Vectors:
        rows: list[list[float]] = []
        for at in range(0, len(images), _IMAGES_AT_ONCE):
            # In a thread: files are read. One batch after another: pictures of all pages would fill the memory.
            some = images[at : at + _IMAGES_AT_ONCE]
            addresses = await asyncio.to_thread(lambda some=some: [_data_uri(image) for image in some])
            rows += await self._batch(addresses, modality="image")
        return unit_rows(rows)


def _data_uri(image: Path) -> str:
    kind = mimetypes.guess_type(image.name)[0] or "image/jpeg"
    return f"data:{kind};base64,{base64.b64encode(image.read_bytes()).decode()}"
