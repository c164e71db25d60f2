"""An OpenAI-compatible endpoint: vLLM, TensorRT-LLM, llama.cpp's server, Ollama, and those in the cloud."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any

from answer import Answer, ToolCall
from backend import Backend, Messages, OnToken, Wish
from bodies import body_of, lines_of
from refusals import Refused, Retrying, object_of, text_of
from settings import Served
from shapes import Gathered, answer_of, arguments_in, count_in, map_in, maps_in, odd, text_in
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

        settings = Served("openai", configs)
        self._model, url = settings.model, settings.url(DEFAULT_URL)
        self.concurrency = settings.concurrency
        self.identity = f"openai {url} {self._model}"
        self._options = dict(options)
        self._retrying = Retrying.of(f"{url}, model {self._model}", settings, KEY_HINT)
        # The client's own retries don't tell a rate limit from an empty account: off.
        self._client = AsyncOpenAI(
            base_url=url,
            api_key=settings.key("LLM_API_KEY") or "none",
            timeout=settings.timeout,
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
        return await self._retrying.ask_in_time(lambda: self._request(body, on_token), label, length(messages))

    async def close(self) -> None:
        await self._client.close()

    async def _request(self, body: Mapping[str, Any], on_token: OnToken | None) -> Answer:
        """One request. Raises ``Refused``."""
        import httpx2
        from openai import APIConnectionError, APIStatusError

        try:
            async with self._client.chat.completions.with_streaming_response.create(
                model=self._model, messages=[], stream=on_token is not None, extra_body=dict(body)
            ) as raw:
                response = raw.http_response
                # Some servers do not stream, whatever they are asked; some proxies answer with a page.
                kind = response.headers.get("content-type", "")
                if on_token is None or "json" in kind or "html" in kind:
                    return await _whole(await body_of(response), on_token)
                return await _streamed(lines_of(response), on_token)
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
    choices = maps_in(answer, "choices")
    if not choices:
        raise odd("choices", answer.get("choices"))
    message = map_in(choices[0], "message")
    text = text_in(message, "content")
    if text and on_token is not None:
        await on_token(text)
    reason = text_in(choices[0], "finish_reason") or None
    calls = _calls(maps_in(message, "tool_calls"))
    return answer_of(text, _thought(message), reason, _counts(answer), calls)


async def _streamed(lines: AsyncIterator[str], on_token: OnToken) -> Answer:
    """Server-sent events, one chunk of the answer each. An answer that just stops is none."""
    said = Gathered()
    calls: dict[int, dict[str, Any]] = {}
    counts: tuple[int | None, int | None] = (None, None)
    reason = ""
    is_done = False
    async for line in lines:
        if not line.startswith("data:"):
            continue
        data = line[5:].strip()
        if data == _DONE:
            is_done = True
            break
        chunk = _decoded(data)
        counts = _counts(chunk) if chunk.get("usage") else counts
        for choice in maps_in(chunk, "choices"):
            reason = text_in(choice, "finish_reason") or reason
            delta = map_in(choice, "delta")
            token = text_in(delta, "content")
            for piece in maps_in(delta, "tool_calls"):
                place = count_in(piece, "index") or 0
                said.add("", beside=_put_together(calls.setdefault(place, {}), piece))
            said.add(token, _thought(delta))
            if token:
                await on_token(token)
    if not reason and not is_done:
        raise said.broken_off()
    found = _calls([calls[place] for place in sorted(calls)])
    return answer_of(said.text, said.thinking, reason or None, counts, found)


def _put_together(call: dict[str, Any], piece: Mapping[str, Any]) -> str:
    """A call of a tool comes in pieces: its name first, its arguments bit by bit. The bits that were added."""
    function = call.setdefault("function", {"name": "", "arguments": ""})
    call["id"] = text_in(piece, "id") or call.get("id")
    added = map_in(piece, "function")
    bits = {"name": text_in(added, "name"), "arguments": arguments_in(added)}
    for name, bit in bits.items():
        function[name] += bit
    return "".join(bits.values())


def _calls(calls: Iterable[Mapping[str, Any]]) -> tuple[ToolCall, ...]:
    found = [(text_in(call, "id"), map_in(call, "function")) for call in calls]
    return tuple(
        ToolCall(name or f"call_{place}", text_in(function, "name"), arguments_in(function) or "{}")
        for place, (name, function) in enumerate(found)
    )


def _counts(answer: Mapping[str, Any]) -> tuple[int | None, int | None]:
    usage = answer.get("usage")
    known = usage if isinstance(usage, dict) else {}
    return count_in(known, "prompt_tokens"), count_in(known, "completion_tokens")


def _decoded(content: str | bytes) -> dict[str, Any]:
    """Raises ``Refused`` for what is no JSON, and for an error in the place of an answer."""
    value = object_of(content)
    if value.get("error"):
        raise Refused(server_words(text_of(content))[:_QUOTED], status=200, code=str(value["error"]))
    return value


def _thought(message: Mapping[str, Any]) -> str:
    """Thinking that comes beside the answer; servers call it by two names."""
    return text_in(message, "reasoning_content") or text_in(message, "reasoning")
