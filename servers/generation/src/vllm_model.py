"""vLLM in this process: its engine takes many conversations at once, and is ended for real."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from answer import Answer, GenerationError, TooLong
from backend import Backend, Messages, OnProgress, OnToken, Wish

from workbench.mcp.backends import need

_TEMPLATE = "chat_template_kwargs"


class VllmModel(Backend):
    """The backend ``vllm``. The engine is begun on the event loop that it will work on."""

    concurrency = 256
    holds_model = True

    def __init__(self, arguments: Mapping[str, Any], options: Mapping[str, Any]) -> None:
        self._arguments = dict(arguments)
        self._template = dict(options.get(_TEMPLATE) or {})
        self._options = {name: value for name, value in options.items() if name != _TEMPLATE}
        self._engine: Any = None
        self._tokenizer: Any = None
        self.identity = f"vllm {arguments['model']}"

    async def prepare(self, on_progress: OnProgress) -> None:
        import vllm

        try:
            self._engine = vllm.AsyncLLMEngine.from_engine_args(vllm.AsyncEngineArgs(**self._arguments))
        except (OSError, RuntimeError, TypeError, ValueError) as error:
            raise GenerationError(f"vLLM can't load {self._arguments['model']}: {error}") from error
        self._tokenizer = await self._engine.get_tokenizer()

    async def answer(self, messages: Messages, label: str, wish: Wish, on_token: OnToken | None) -> Answer:
        import vllm

        if self._engine is None:
            raise GenerationError("the model was shut down", stops_all=True)
        prompt = self._tokenizer.apply_chat_template(
            messages, tokenize=False, add_generation_prompt=True, **self._template
        )
        given = {**self._options, **wish.options}
        if wish.schema is not None:
            from vllm.sampling_params import StructuredOutputsParams

            given["structured_outputs"] = StructuredOutputsParams(json=dict(wish.schema))
        text = ""
        last: Any = None
        try:
            async for last in self._engine.generate(prompt, vllm.SamplingParams(**given), uuid4().hex):
                now = last.outputs[0].text
                if on_token is not None and len(now) > len(text):
                    await on_token(now[len(text) :])
                text = now
        except ValueError as error:  # its way to say that the prompt is too long
            raise TooLong(f"vLLM refused the prompt: {error}") from error
        if last is None:
            raise GenerationError("vLLM gave no answer")
        output = last.outputs[0]
        return Answer(text, "", output.finish_reason, len(last.prompt_token_ids or ()), len(output.token_ids))

    async def close(self) -> None:
        engine, self._engine = self._engine, None
        if engine is not None:
            engine.shutdown()


def load_vllm(configs: Mapping[str, Any], options: Mapping[str, Any]) -> VllmModel:
    """The engine that ``configs`` describes: ``model_name_or_path``, ``gpu_ids``, and vLLM's own arguments.

    Raises ``GenerationError``, ``ToolError``.
    """
    name = configs.get("model_name_or_path") or configs.get("model_name") or configs.get("model")
    if not name:
        raise GenerationError("the backend vllm needs generation.backend_configs.vllm.model_name_or_path")
    need("vllm", "the backend vllm (a vLLM server is reached by the backend openai, without it)", "vllm")
    gpus = configs.get("gpu_ids")
    if gpus is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = str(gpus)
    own = ("model_name_or_path", "model_name", "model", "gpu_ids")
    return VllmModel({"model": str(name), **{n: v for n, v in configs.items() if n not in own}}, options)
