"""The backends `hf` and `vllm`: the first with a tiny model of its own, the second with a stand-in for its engine."""

from __future__ import annotations

import asyncio
import sys
import types
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import generation
import pytest
from answer import GenerationError, TooLong
from backend import Wish
from conversation import conversation
from fastmcp import Client

WORDS = ["<s>", "</s>", "<unk>", "the", "mill", "makes", "oat", "flour", "what", "does", "user", "assistant", "?", "."]
TEMPLATE = "{% for m in messages %}<s> {{ m.role }} {{ m.content }} {% endfor %}assistant"


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of two small layers with random weights, and a tokenizer of fourteen words."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    tokenizers = pytest.importorskip("tokenizers")
    folder = tmp_path_factory.mktemp("tiny")
    inner = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="<unk>")
    )
    inner.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=inner, bos_token="<s>", eos_token="</s>", unk_token="<unk>", chat_template=TEMPLATE
    )
    tokenizer.save_pretrained(folder)
    torch.manual_seed(1)
    config = transformers.LlamaConfig(
        vocab_size=len(WORDS),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=64,
        bos_token_id=0,
        eos_token_id=1,
        pad_token_id=1,
    )
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    return folder


async def test_transformers_answers_token_by_token_and_stops(tiny: Path) -> None:
    from transformers_model import load_transformers

    options = {"temperature": 0, "max_tokens": 6, "seed": 1}
    backend = load_transformers({"model_name_or_path": str(tiny)}, options)
    tokens: list[str] = []

    async def on_token(token: str) -> None:
        tokens.append(token)

    asked = conversation("what does the mill makes ?", "")
    answer = await backend.answer(asked, "[0]", Wish(), on_token)
    assert answer.prompt_tokens == 9
    assert answer.completion_tokens is not None
    assert 1 <= answer.completion_tokens <= 6
    assert "".join(tokens) == answer.text
    assert answer.finish_reason == ("length" if answer.completion_tokens == 6 else "stop")
    assert (await backend.answer(asked, "[0]", Wish(), None)).text == answer.text
    with pytest.raises(TooLong, match=r"the prompt has 7\d tokens and the model's context holds 64"):
        await backend.answer(conversation("mill " * 70, ""), "[0]", Wish(), None)
    with pytest.raises(GenerationError, match="can't hold an answer to a schema"):
        await backend.answer(asked, "[0]", Wish({"type": "object"}), None)
    await backend.close()
    with pytest.raises(GenerationError, match="was shut down"):
        await backend.answer(asked, "[0]", Wish(), None)


async def test_settings_without_effect_are_told(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    configs = {"hf": {"model_name_or_path": str(tiny), "gpu_ids": "77", "batch_size": 8}}
    async with Client(generation.app) as client:
        result = await client.call_tool(
            "generation_init", {"backend": "hf", "backend_configs": configs, "sampling_params": {"max_tokens": 2}}
        )
        assert (await client.call_tool("generate", {"prompt_ls": ["the mill"]})).structured_content is not None
        await client.call_tool("shutdown", {})
    assert result.meta is not None
    assert result.meta["ragwb"]["warnings"] == [
        "batch_size has no effect: the backend hf answers one conversation at a time",
        "gpu_ids 77: PyTorch sees no such GPU here, so the model runs on the CPU",
    ]


def test_a_model_that_is_none_is_told(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    from transformers_model import load_transformers

    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(GenerationError, match="can't be loaded by transformers"):
        load_transformers({"model_name_or_path": str(tmp_path)}, {})


class Engine:
    """Of vLLM's engine what the server uses of it."""

    def __init__(self, arguments: Any) -> None:
        self.arguments, self.is_shut_down, self.under_way, self.most = arguments, False, 0, 0

    async def get_tokenizer(self) -> Any:
        def template(messages: list[dict[str, Any]], **_: Any) -> str:
            return " ".join(message["content"] for message in messages)

        return types.SimpleNamespace(apply_chat_template=template)

    async def generate(self, prompt: str, params: Any, request: str) -> AsyncIterator[Any]:
        if len(prompt) > 100:
            raise ValueError("The decoder prompt (longer than the maximum model length of 25)")
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        for count in (1, 2):
            await asyncio.sleep(0.01)
            reason = "stop" if count == 2 else None
            output = types.SimpleNamespace(text=prompt[: count * 5], finish_reason=reason, token_ids=[0] * count)
            yield types.SimpleNamespace(outputs=[output], prompt_token_ids=[0] * 4)
        self.under_way -= 1

    def shutdown(self) -> None:
        self.is_shut_down = True


async def test_vllm_takes_many_at_once_and_is_shut_down(monkeypatch: pytest.MonkeyPatch) -> None:
    vllm: Any = types.ModuleType("vllm")
    vllm.AsyncEngineArgs = lambda **arguments: arguments
    vllm.AsyncLLMEngine = types.SimpleNamespace(from_engine_args=Engine)
    vllm.SamplingParams = lambda **options: options
    monkeypatch.setitem(sys.modules, "vllm", vllm)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    configs = {"vllm": {"model_name_or_path": "m", "gpu_ids": "0", "gpu_memory_utilization": 0.5}}
    begin = {"backend": "vllm", "backend_configs": configs, "sampling_params": {"temperature": 0}}
    async with Client(generation.app) as client:
        await client.call_tool("generation_init", {**begin, "extra_params": {"chat_template_kwargs": {"x": 1}}})
        assert generation.model is not None
        engine: Engine = generation.model.backend._engine  # type: ignore[attr-defined]
        assert engine.arguments == {"model": "m", "gpu_memory_utilization": 0.5}
        asked = await client.call_tool("generate", {"prompt_ls": ["0123456789", "x" * 200, "abcdefghij"]})
        assert asked.structured_content is not None
        assert asked.structured_content["ans_ls"] == ["0123456789", None, "abcdefghij"]
        assert "vLLM refused the prompt" in asked.structured_content["usage_ls"][1]["error"]
        assert engine.most == 2
        await client.call_tool("vllm_shutdown", {})
    assert engine.is_shut_down
    assert generation.model is None
