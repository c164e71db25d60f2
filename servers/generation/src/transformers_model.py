"""A model in this process by transformers: by name, or from a folder."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from answer import Answer, GenerationError, TooLong
from backend import Backend, Messages, OnToken, Wish
from streaming import Take, from_thread

from workbench.mcp.backends import need
from workbench.mcp.kit import find_file

_NAMES = {"max_tokens": "max_new_tokens", "max_completion_tokens": "max_new_tokens"}
"""What OpenAI's parameters are called here."""
_TEMPLATE = "chat_template_kwargs"
_OWN = ("model_name_or_path", "model_name", "hf_params", "trust_remote_code", "gpu_ids", "batch_size")
"""Settings that are no arguments of ``from_pretrained``."""
_ONE_BY_ONE = "batch_size has no effect: the backend hf answers one conversation at a time"


class TransformersModel(Backend):
    """The backend ``hf``: one conversation at a time, token by token."""

    holds_model = True

    def __init__(self, model: Any, tokenizer: Any, options: Mapping[str, Any], identity: str) -> None:
        self._model: Any = model
        self._tokenizer: Any = tokenizer
        self._template = dict(options.get(_TEMPLATE) or {})
        self._options = options
        self._seed = options.get("seed")
        self.identity = identity
        self.context_tokens = getattr(model.config, "max_position_embeddings", None)

    async def answer(self, messages: Messages, label: str, wish: Wish, on_token: OnToken | None) -> Answer:
        if wish.schema is not None:
            others = "llama_cpp, openai, ollama and vllm"
            raise GenerationError(f"the backend hf can't hold an answer to a schema; {others} can", stops_all=True)
        if self._model is None:
            raise GenerationError("the model was shut down", stops_all=True)
        encoded = self._encoded(messages)
        count = int(encoded["input_ids"].shape[1])
        fitting = self.context_tokens
        if fitting is not None and count >= fitting:
            raise TooLong(f"the prompt has {count} tokens and the model's context holds {fitting}", count, fitting)
        options = _generation_options({**self._options, **wish.options})
        tokens: list[int] = []
        text = ""
        async for token in from_thread(lambda take: self._generate(encoded, options, take)):
            tokens.append(token)
            now = self._tokenizer.decode(tokens, skip_special_tokens=True)
            # A character may need several tokens: until then it is shown as a replacement.
            if not now.endswith("\ufffd"):
                if on_token is not None and len(now) > len(text):
                    await on_token(now[len(text) :])
                text = now
        reason = "stop" if tokens and tokens[-1] in self._ends() else "length"
        return Answer(text, "", reason, count, len(tokens))

    async def close(self) -> None:
        import gc

        self._model = self._tokenizer = None
        gc.collect()
        torch = need("torch", "the backend hf")
        if torch.cuda.is_available():
            torch.cuda.empty_cache()

    def _encoded(self, messages: Messages) -> Any:
        tokenizer = self._tokenizer
        if getattr(tokenizer, "chat_template", None):
            text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True, **self._template)
            return tokenizer(text, return_tensors="pt", add_special_tokens=False).to(self._model.device)
        # A model without a chat template is one that goes on with a text.
        text = "\n\n".join(str(message["content"]) for message in messages)
        return tokenizer(text, return_tensors="pt").to(self._model.device)

    def _ends(self) -> set[int]:
        ends = self._model.generation_config.eos_token_id
        return set(ends) if isinstance(ends, list) else {ends}

    def _generate(self, encoded: Any, options: Mapping[str, Any], take: Take) -> None:
        import torch
        from transformers import StoppingCriteria, StoppingCriteriaList

        class Handing(StoppingCriteria):
            """Hands over each token as it comes, and stops when nobody wants any more."""

            def __call__(self, input_ids: Any, scores: Any, **_: Any) -> Any:
                is_over = take(int(input_ids[0, -1]))
                return torch.full((input_ids.shape[0],), is_over, dtype=torch.bool, device=input_ids.device)

        if self._seed is not None:
            torch.manual_seed(int(self._seed))
        with torch.inference_mode():
            self._model.generate(**encoded, **options, stopping_criteria=StoppingCriteriaList([Handing()]))


def load_transformers(configs: Mapping[str, Any], options: Mapping[str, Any]) -> TransformersModel:
    """Load the model that ``model_name_or_path`` names. Raises ``GenerationError``, ``ToolError``."""
    name = str(configs.get("model_name_or_path") or configs.get("model_name") or "")
    if not name:
        raise GenerationError("the backend hf needs generation.backend_configs.hf.model_name_or_path")
    transformers = need("transformers", "the backend hf", "ragwb[hf]")
    torch = need("torch", "the backend hf", "ragwb[hf]")
    place = Path(find_file(name))
    further = {key: value for key, value in configs.items() if key not in _OWN}
    further |= dict(configs.get("hf_params") or {})
    remote = bool(configs.get("trust_remote_code"))
    source = str(place) if place.exists() else name
    warnings = [_ONE_BY_ONE] if configs.get("batch_size") not in (None, 1) else []
    gpus = configs.get("gpu_ids")
    if gpus is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = str(gpus)
        if not torch.cuda.is_available():
            warnings.append(f"gpu_ids {gpus}: PyTorch sees no such GPU here, so the model runs on the CPU")
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(source, trust_remote_code=remote)
        model = transformers.AutoModelForCausalLM.from_pretrained(source, trust_remote_code=remote, **further)
    except (OSError, ValueError) as error:
        raise GenerationError(f"the model {name} can't be loaded by transformers: {error}") from error
    if gpus is not None and torch.cuda.is_available() and "device_map" not in further:
        model = model.to("cuda")
    loaded = TransformersModel(model.eval(), tokenizer, options, f"hf {source}")
    loaded.warnings = warnings
    return loaded


def _generation_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options as ``generate`` takes them; temperature 0 means the likeliest token each time."""
    given = {_NAMES.get(name, name): value for name, value in options.items() if name not in (_TEMPLATE, "seed")}
    temperature = given.get("temperature")
    if temperature is not None and float(temperature) == 0:
        given = {name: value for name, value in given.items() if name not in ("temperature", "top_p", "top_k")}
        return {**given, "do_sample": False}
    return {"do_sample": temperature is not None, **given}
