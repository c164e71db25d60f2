"""An Infinity server: the same protocol as OpenAI's, at its own address, the model named as for a local one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from embedders.openai_endpoint import OpenAIEndpoint


class InfinityEndpoint(OpenAIEndpoint):
    """The backend ``infinity``; without ``model_name`` it is retriever.model_name_or_path."""

    backend = "infinity"
    default_url = "http://127.0.0.1:7997"

    def __init__(self, model: str, configs: Mapping[str, Any], batch_size: int) -> None:
        super().__init__(model, {**configs, "model_name": configs.get("model_name") or model}, batch_size)
