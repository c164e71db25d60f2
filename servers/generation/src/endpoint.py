"""An OpenAI-compatible endpoint: vLLM, TensorRT-LLM, llama.cpp's server, Ollama, and those in the cloud."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any

from answer import Answer, GenerationError, ToolCall
from backend import Backend, Messages, OnToken, Wish
from refusals import Refused, Retrying, object_of, text_of
from shortening import length

from workbench.mcp.json_http import retry_after, server_words

DEFAULT_URL = "http://127.0.0.1:8000/v1"
"""Nothing goes to a company that nobody named."""
KEY_HINT = "the environment variable LLM_API_KEY or generation.backend_configs.openai.api_key"
_DONE = "[DONE]"
_QUOTED = 500
"""How much of a server's words a message has, in characters."""


class Endpoint(Backend):
    """The backend ``openai``."""

    takes_images = True
    takes_tools = True

    def __init__(self, configs: Mapping[str, Any], options: Mapping[str, Any]) -> None:
        """Raises ``GenerationError`` without a model name."""
        from openai import AsyncOpenAI

        if not configs.get("model_name"):
            raise GenerationError("the backend openai needs generation.backend_configs.openai.model_name")
        url = str(configs.get("base_url") or DEFAULT_URL)
        self.concurrency = max(1, int(configs.get("concurrency") or 1))
        self.identity = f"openai {url} {configs['model_name']}"
        self._model = str(configs["model_name"])
        self._options = dict(options)
        self._retrying = Retrying.of(f"{url}, model {self._model}", configs, KEY_HINT)
        # The client's own retries don't tell a rate limit from an empty account: off.
        self._client = AsyncOpenAI(
            base_url=url,
            api_key=configs.get("api_key") or os.environ.get("LLM_API_KEY") or "none",
            timeout=float(configs.get("timeout") or 600),
            max_retries=0,
        )

    async def answer(self, messages: Messages, label: str, wish: Wish, on_token: OnToken | None) -> Answer:
        body: dict[str, Any] = {"messages": messages, **self._options, **wish.options}
        if on_token is not None:
            body.setdefault("stream_options", {"include_usage": True})
        if wish.schema is not None:
            asked = {"name": "answer", "schema": dict(wish.schema), "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": asked}
        if wish.tools:
            body["tools"] = [tool.offered() for tool in wish.tools]
        return await self._retrying.ask(lambda: self._request(body, on_token), label, length(messages))

    async def close(self) -> None:
        await self._client.close()

    async def _request(self, body: Mapping[str, Any], on_token: OnToken | None) -> Answer:
        """One request. Raises ``Refused``."""
        import httpx2
        from openai import APIConnectionError, APIStatusError

        try:
            raw = await self._client.chat.completions.with_raw_response.create(
                model=self._model, messages=[], stream=on_token is not None, extra_body=dict(body)
            )
            response = raw.http_response
            # Some servers do not stream, whatever they are asked; some proxies answer with a page.
            kind = response.headers.get("content-type", "")
            if on_token is None or "json" in kind or "html" in kind:
                return await _whole(await response.aread(), on_token)
            return await _streamed(response.aiter_lines(), on_token)
        except APIStatusError as error:
            response = error.response
            raise Refused(
                server_words(response.text).strip()[:_QUOTED] or str(error),
                status=response.status_code,
                code=f"{error.code} {error.type}",
                retry_after=retry_after(response.headers.get("retry-after")),
            ) from error
        except APIConnectionError as error:
            cause = error.__cause__ or error
            reached = not isinstance(cause, httpx2.ConnectError | httpx2.ConnectTimeout)
            raise Refused(str(cause) or type(cause).__name__, reached=reached) from error
        except httpx2.HTTPError as error:  # while an answer was read
            raise Refused(str(error) or type(error).__name__) from error


async def _whole(content: bytes, on_token: OnToken | None) -> Answer:
    answer = _decoded(content)
    choice = (answer.get("choices") or [{}])[0]
    message = choice.get("message") or {}
    text = message.get("content") or ""
    if text and on_token is not None:
        await on_token(text)
    calls = _calls(message.get("tool_calls") or ())
    return _answer(text, _thought(message), choice.get("finish_reason"), answer.get("usage"), calls)


async def _streamed(lines: AsyncIterator[str], on_token: OnToken) -> Answer:
    """Server-sent events, one chunk of the answer each. An answer that just stops is none."""
    tokens: list[str] = []
    thoughts: list[str] = []
    calls: dict[int, dict[str, Any]] = {}
    reason = usage = None
    is_done = False
    async for line in lines:
        if not line.startswith("data:"):
            continue
        data = line[5:].strip()
        if data == _DONE:
            is_done = True
            break
        chunk = _decoded(data)
        usage = chunk.get("usage") or usage
        for choice in chunk.get("choices") or ():
            reason = choice.get("finish_reason") or reason
            delta = choice.get("delta") or {}
            thoughts.append(_thought(delta))
            for piece in delta.get("tool_calls") or ():
                _put_together(calls.setdefault(piece.get("index") or 0, {}), piece)
            if token := delta.get("content"):
                tokens.append(token)
                await on_token(token)
    if reason is None and not is_done:
        raise Refused(f"the stream ended after {len(''.join(tokens))} characters, without a word of its end")
    return _answer("".join(tokens), "".join(thoughts), reason, usage, _calls([calls[place] for place in sorted(calls)]))


def _put_together(call: dict[str, Any], piece: Mapping[str, Any]) -> None:
    """A call of a tool comes in pieces: its name first, its arguments bit by bit."""
    function = call.setdefault("function", {"name": "", "arguments": ""})
    call["id"] = piece.get("id") or call.get("id")
    for name in function:
        function[name] += (piece.get("function") or {}).get(name) or ""


def _calls(calls: Iterable[Mapping[str, Any]]) -> tuple[ToolCall, ...]:
    found = [(call.get("id"), call.get("function") or {}) for call in calls]
    return tuple(
        ToolCall(str(name or f"call_{place}"), str(function.get("name")), str(function.get("arguments") or "{}"))
        for place, (name, function) in enumerate(found)
    )


def _decoded(content: str | bytes) -> dict[str, Any]:
    """Raises ``Refused`` for what is no JSON, and for an error in the place of an answer."""
    value = object_of(content)
    if value.get("error"):
        raise Refused(server_words(text_of(content))[:_QUOTED], status=200, code=str(value["error"]))
    return value


def _thought(message: Mapping[str, Any]) -> str:
    """Thinking that comes beside the answer; servers call it by two names."""
    return message.get("reasoning_content") or message.get("reasoning") or ""


def _answer(
    text: str,
    thinking: str,
    reason: str | None,
    usage: Mapping[str, Any] | None,
    calls: tuple[ToolCall, ...],
) -> Answer:
    usage = usage or {}
    counts = (usage.get("prompt_tokens"), usage.get("completion_tokens"))
    return Answer(text, thinking, reason, *counts, calls=calls)
