"""An OpenAI-compatible endpoint: streaming, retries where they help, and errors that say what to do."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from answering import GenerationError, Messages, OnToken
from endpoint_errors import explain, wait_before_retry

if TYPE_CHECKING:
    from openai import AsyncStream
    from openai.types.chat import ChatCompletionChunk


class Endpoint:
    """The backend ``openai``."""

    def __init__(self, configs: Mapping[str, Any], options: Mapping[str, Any]) -> None:
        """``options`` are the fields of every request. Raises ``GenerationError`` without a model name."""
        from openai import AsyncOpenAI

        if not configs.get("model_name"):
            raise GenerationError("the backend openai needs generation.backend_configs.openai.model_name")
        self.concurrency = max(1, int(configs.get("concurrency") or 1))
        self._model = str(configs["model_name"])
        self._url = str(configs.get("base_url") or "https://api.openai.com/v1")
        self._retries = int(configs.get("retries", 3))
        self._base_delay = float(configs.get("base_delay", 1.0))
        self._options = options
        # The client's own retries don't tell a rate limit from an empty account: off.
        self._client = AsyncOpenAI(
            base_url=self._url,
            api_key=configs.get("api_key") or os.environ.get("LLM_API_KEY") or "none",
            timeout=float(configs.get("timeout") or 600),
            max_retries=0,
        )

    async def answer(self, messages: Messages, label: str, on_token: OnToken) -> str:
        from openai import OpenAIError

        attempt = 0
        while True:
            try:
                text, reason = await self._ask(messages, on_token)
                break
            except OpenAIError as error:
                wait = wait_before_retry(error, attempt, self._base_delay)
                if wait is None or attempt >= self._retries:
                    characters = sum(len(message["content"]) for message in messages)
                    where = f"{self._url}, model {self._model}"
                    raise GenerationError(explain(error, label, where, attempt + 1, characters)) from error
                attempt += 1
                print(
                    f"item {label}: {error}; retry {attempt} of {self._retries} in {wait:.1f} s",
                    file=sys.stderr,
                )
                await asyncio.sleep(wait)
        if not text:
            print(f"item {label}: the server gave no content (finish_reason: {reason})", file=sys.stderr)
        return text

    async def _ask(self, messages: Messages, on_token: OnToken) -> tuple[str, str | None]:
        """One request: the text and the finish_reason."""
        raw = await self._client.chat.completions.with_raw_response.create(
            model=self._model,
            messages=messages,  # type: ignore[arg-type]
            stream=True,
            extra_body=dict(self._options),
        )
        if "json" in raw.headers.get("content-type", ""):
            # Some servers do not stream, whatever they are asked.
            answer = json.loads(await raw.http_response.aread())
            choice = (answer.get("choices") or [{}])[0]
            text = (choice.get("message") or {}).get("content") or ""
            if text:
                await on_token(text)
            return text, choice.get("finish_reason")
        tokens: list[str] = []
        reason = None
        stream = cast("AsyncStream[ChatCompletionChunk]", raw.parse())
        async with stream:
            async for chunk in stream:
                for part in chunk.choices:
                    reason = part.finish_reason or reason
                    if token := part.delta.content:
                        tokens.append(token)
                        await on_token(token)
        return "".join(tokens), reason
