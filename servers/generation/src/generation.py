"""Answers of a language model to prompts; tokens are reported as they come."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from answering import Backend, GenerationError, answer_all, prompt_text
from endpoint import Endpoint
from fastmcp.exceptions import ToolError
from local_model import load_local

from workbench.mcp.kit import ToolServer, call_items, find_file, report

app = ToolServer("generation")

BACKENDS = ("llama_cpp", "openai")

model: Backend | None = None
"""Loaded by ``generation_init``."""


@app.tool(output="backend_configs,sampling_params,extra_params,backend->")
async def generation_init(
    backend_configs: dict[str, Any],
    sampling_params: dict[str, Any],
    extra_params: dict[str, Any] | None = None,
    backend: str = "llama_cpp",
) -> None:
    """Load a local model, or set up the client of an endpoint."""
    global model  # noqa: PLW0603 - the one thing this server holds
    options = {**sampling_params, **(extra_params or {})}
    try:
        # In a thread: a model takes a second to load, and the server must hear a cancellation meanwhile.
        model = await asyncio.to_thread(load_backend, backend, backend_configs, options)
    except GenerationError as error:
        raise ToolError(str(error)) from error


@app.tool(output="prompt_ls,system_prompt->ans_ls")
async def generate(prompt_ls: list[Any], system_prompt: str = "") -> dict[str, list[str]]:
    """One answer per prompt. Progress: all tokens so far, and the newest one as its message."""
    if model is None:
        raise ToolError("no model is loaded: generation.generation_init must come before generation.generate")
    done = 0

    async def on_token(token: str) -> None:
        nonlocal done
        done += 1
        await report(done, None, token)

    labels = item_labels(call_items(), len(prompt_ls))
    try:
        prompts = [prompt_text(prompt, label) for prompt, label in zip(prompt_ls, labels, strict=True)]
        return {"ans_ls": await answer_all(model, prompts, labels, system_prompt, on_token)}
    except GenerationError as error:
        raise ToolError(str(error)) from error


def load_backend(name: str, configs: Mapping[str, Any], options: Mapping[str, Any]) -> Backend:
    """The backend of that name with its own part of backend_configs. Raises ``GenerationError``."""
    own = configs.get(name) or {}
    if name == "llama_cpp":
        return load_local(own, options, find_file)
    if name == "openai":
        return Endpoint(own, options)
    raise GenerationError(
        f"unknown generation backend {name!r}; known are {' and '.join(BACKENDS)}. "
        "vLLM and others are reached by openai, with backend_configs.openai.base_url"
    )


def item_labels(items: Sequence[int] | None, count: int) -> list[str]:
    """``[3]`` for each prompt: the numbers of the call's items; positions where it is not about items."""
    numbers = items if items is not None and len(items) == count else range(count)
    return [f"[{number}]" for number in numbers]


if __name__ == "__main__":
    app.run(transport="stdio")
