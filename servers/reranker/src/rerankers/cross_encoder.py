"""Any cross-encoder of sentence-transformers, by name or folder. The only file here that loads torch."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from rerankers import Reranker, RerankError
from workbench.mcp.backends import need


class CrossEncoderModel(Reranker):
    """The backend ``sentence_transformers``; ``configs`` are the constructor's options."""

    settings = None

    def __init__(self, model: str, configs: Mapping[str, Any], batch_size: int) -> None:
        library = need(
            "sentence_transformers",
            "the backend sentence_transformers (with torch, some 1.4 GB)",
            "ragwb[sentence-transformers]",
        )
        options = {name: value for name, value in configs.items() if value is not None}
        try:
            self._model = library.CrossEncoder(model, **options)
        except (OSError, ValueError, TypeError) as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise RerankError(
                f"sentence_transformers can't load the model {model!r} (reranker.model_name_or_path): {reason}"
            ) from error
        self._batch_size = batch_size

    async def scores(self, queries: Sequence[str], passages: Sequence[Sequence[str]]) -> list[list[float]]:
        pairs = [(query, text) for query, texts in zip(queries, passages, strict=True) for text in texts]
        flat = iter((await asyncio.to_thread(self._predict, pairs)).tolist())
        return [[float(next(flat)) for _ in texts] for texts in passages]

    def _predict(self, pairs: Sequence[tuple[str, str]]) -> Any:
        found = self._model.predict(list(pairs), batch_size=self._batch_size, show_progress_bar=False)
        if getattr(found, "ndim", 1) != 1:
            raise RerankError(f"the model gives {found.shape[1]} numbers a pair; a reranker gives one")
        return found
