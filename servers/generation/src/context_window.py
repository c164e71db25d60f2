"""How many tokens a served model's context holds, and whether a prompt fits: looked at before it is sent.

A model in this process counts its prompts itself. Of one that is served the size is configured, or the server tells it;
a server of vLLM counts tokens too, for others they are guessed. Where nobody knows the size, the server has the word.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from answer import GenerationError, TooLong
from backend import Messages
from endpoint import DEFAULT_URL
from shortening import texts_of

from workbench.engine.about_tokens import about_tokens

_SIZES = ("max_model_len", "context_length", "context_window", "max_context_length")
"""What an entry of ``/models`` calls it: vLLM, then providers in the cloud."""
_MARGIN = 1.25
"""A guess is believed only where it is beyond the size by so much."""
_SECONDS = 5.0


@dataclass
class Window:
    """``tokens`` is None where it is not known; ``told_by`` says who told it."""

    tokens: int | None = None
    told_by: str = ""
    count_url: str = ""
    """Where a server counts the tokens of a prompt; empty where none does."""
    model: str = ""
    client: Any = None

    async def check(self, messages: Messages) -> None:
        """Raises ``TooLong`` for a prompt that does not fit."""
        text = "\n".join(text for message in messages for text in texts_of(message["content"]))
        # A token has one byte at least: most prompts need no counting.
        if self.tokens is None or len(text.encode()) <= self.tokens:
            return
        exact = await self._counted(messages)
        tokens = about_tokens(text) if exact is None else exact
        if tokens <= self.tokens * (_MARGIN if exact is None else 1):
            return
        size = (
            f"{tokens} tokens" if exact is not None else f"about {tokens} tokens (guessed from {len(text)} characters)"
        )
        raise TooLong(
            f"the prompt has {size} and the model's context holds {self.tokens} ({self.told_by}): it was not sent. "
            "Shorten it, e.g. by a smaller retriever.top_k, or set generation.backend_configs.common.too_long: cut",
            tokens,
            self.tokens,
        )

    async def close(self) -> None:
        if self.client is not None:
            await self.client.aclose()

    async def _counted(self, messages: Messages) -> int | None:
        if not self.count_url or any(not isinstance(message["content"], str) for message in messages):
            return None
        told = await _asked(self.client, "POST", self.count_url, {"model": self.model, "messages": messages})
        count = told.get("count")
        return count if isinstance(count, int) else None


async def window_of(backend: str, configs: Mapping[str, Any]) -> Window:
    """What is known of a backend's context. Raises ``GenerationError`` for a size that is none."""
    given = configs.get("context_tokens")
    if given is not None:
        if not isinstance(given, int) or isinstance(given, bool) or given < 0:
            name = f"generation.backend_configs.{backend}.context_tokens"
            raise GenerationError(f"{name} is a number of tokens (0: prompts are not looked at), not {given!r}")
        return Window(given or None, "context_tokens")
    look = {"openai": _of_openai, "ollama": _of_ollama}.get(backend)
    return await look(configs) if look is not None else Window()


async def _of_openai(configs: Mapping[str, Any]) -> Window:
    import httpx2

    url, model = str(configs.get("base_url") or DEFAULT_URL).rstrip("/"), str(configs.get("model_name"))
    key = configs.get("api_key") or os.environ.get("LLM_API_KEY")
    client = httpx2.AsyncClient(timeout=_SECONDS, headers={"Authorization": f"Bearer {key}"} if key else None)
    listed = (await _asked(client, "GET", f"{url}/models")).get("data")
    entries = [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
    entry: dict[str, Any] = next((entry for entry in entries if entry.get("id") == model), {})
    root = url.removesuffix("/v1")
    for name in _SIZES:
        if isinstance(entry.get(name), int):
            counts = f"{root}/tokenize" if name == "max_model_len" else ""
            return Window(entry[name], f"{name}, says {url}/models", counts, model, client)
    window = Window()
    if entry.get("owned_by") == "llamacpp":
        settings = (await _asked(client, "GET", f"{root}/props")).get("default_generation_settings")
        size = settings.get("n_ctx") if isinstance(settings, dict) else None
        window = Window(size, f"n_ctx, says {root}/props") if isinstance(size, int) else window
    await client.aclose()
    return window


async def _of_ollama(configs: Mapping[str, Any]) -> Window:
    """Ollama takes what is configured, else what the model's own file says; its own default it does not tell."""
    import httpx2

    if configs.get("num_ctx"):
        return Window(int(configs["num_ctx"]), "num_ctx")
    url = str(configs.get("base_url") or "http://127.0.0.1:11434").removesuffix("/").removesuffix("/v1")
    key = configs.get("api_key") or os.environ.get("OLLAMA_API_KEY")
    async with httpx2.AsyncClient(
        timeout=_SECONDS, headers={"Authorization": f"Bearer {key}"} if key else None
    ) as client:
        shown = await _asked(client, "POST", f"{url}/api/show", {"model": str(configs.get("model_name"))})
    size = re.search(r"^num_ctx\s+(\d+)", str(shown.get("parameters") or ""), re.MULTILINE)
    return Window(int(size[1]), f"num_ctx, says {url}/api/show") if size is not None else Window()


async def _asked(client: Any, method: str, url: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A JSON object; an empty one where the server has none to give: it is not what the user asked for."""
    import httpx2

    try:
        async with asyncio.timeout(_SECONDS):
            response = await client.request(method, url, json=body)
        value = response.json() if response.is_success else None
    except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}
