"""Ollama by its own API: which models it has, pulling one, keeping it loaded, structured answers."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from answer import Answer, GenerationError, ToolCall
from backend import Backend, Messages, OnProgress, OnToken, Wish
from bodies import body_of, lines_of
from refusals import Refused, Retrying, object_of
from settings import Served
from shapes import Gathered, answer_of, arguments_in, count_in, map_in, maps_in, text_in
from shortening import length

from workbench.mcp.json_http import retry_after, server_words

_OWN = ("think", "keep_alive", "format", "tools", "logprobs")
"""Fields of a request; all others are options of the model."""
_NAMES = {"max_tokens": "num_predict", "max_completion_tokens": "num_predict"}
"""What OpenAI's parameters are called here."""

DEFAULT_URL = "http://127.0.0.1:11434"
KEY_HINT = "the environment variable OLLAMA_API_KEY or generation.backend_configs.ollama.api_key"


class Ollama(Backend):
    """The backend ``ollama``."""

    takes_images = True
    takes_tools = True

    def __init__(self, configs: Mapping[str, Any], options: Mapping[str, Any]) -> None:
        """Raises ``GenerationError`` without a model name."""
        import httpx2

        settings = Served("ollama", configs)
        self._model, url = settings.model, settings.url(DEFAULT_URL).removesuffix("/").removesuffix("/v1")
        self.concurrency = settings.concurrency
        self.identity = f"ollama {url} {self._model}"
        self._pulls = bool(configs.get("pull"))
        self._fields = {name: value for name, value in options.items() if name in _OWN}
        self._options = _own_names({name: value for name, value in options.items() if name not in _OWN})
        if configs.get("num_ctx"):
            self._options["num_ctx"] = settings.count("num_ctx", 0)
        if configs.get("keep_alive") is not None:
            self._fields["keep_alive"] = configs["keep_alive"]
        self._retrying = Retrying.of(f"{url}, model {self._model}", settings, KEY_HINT)
        key = settings.key("OLLAMA_API_KEY")
        self._client = httpx2.AsyncClient(
            base_url=url,
            timeout=settings.timeout,
            headers={"Authorization": f"Bearer {key}"} if key else None,
        )

    async def prepare(self, on_progress: OnProgress) -> None:
        """See that the model is there; pull it where that is wished."""
        listed = await self._retrying.ask_in_time(lambda: self._get("/api/tags"), "all", 0)
        there = [str(entry.get("name")) for entry in maps_in(listed, "models")]
        if self._model in there or f"{self._model}:latest" in there:
            return
        if not self._pulls:
            raise GenerationError(
                f"Ollama has no model {self._model}; it has {', '.join(there) or 'none'}. Get it: "
                f"`ollama pull {self._model}`, or set generation.backend_configs.ollama.pull to true"
            )
        # Tried again like any request: Ollama goes on with a pull where it was broken off.
        await self._retrying.ask(lambda: self._pull(on_progress), "all", 0)

    async def answer(self, messages: Messages, label: str, wish: Wish, on_token: OnToken | None) -> Answer:
        body = {
            "model": self._model,
            "messages": [_message(message) for message in messages],
            "stream": on_token is not None,
            "options": {**self._options, **_own_names(wish.options)},
            **self._fields,
        }
        if wish.schema is not None:
            body["format"] = dict(wish.schema)
        if wish.tools:
            body["tools"] = [tool.offered() for tool in wish.tools]
        return await self._retrying.ask_in_time(lambda: self._request(body, on_token), label, length(messages))

    async def close(self) -> None:
        await self._client.aclose()

    async def _pull(self, on_progress: OnProgress) -> None:
        """Raises ``Refused``, also where the pull ends without a word of its success."""
        status = ""
        async for state in self._lines("/api/pull", {"model": self._model, "stream": True}):
            status = str(state.get("status") or "")
            await on_progress(float(state.get("completed") or 0), float(state.get("total") or 0), status)
        if status != "success":
            raise Refused(f"the pull of {self._model} ended with {status!r}, and not with 'success'")

    async def _request(self, body: Mapping[str, Any], on_token: OnToken | None) -> Answer:
        """One request. Raises ``Refused``."""
        said = Gathered()
        calls: list[ToolCall] = []
        async for line in self._lines("/api/chat", body):
            message = map_in(line, "message")
            called = maps_in(message, "tool_calls")
            calls += [_call(call, len(calls) + place) for place, call in enumerate(called)]
            token = text_in(message, "content")
            said.add(token, text_in(message, "thinking"))
            if token and on_token is not None:
                await on_token(token)
            if line.get("done"):
                counts = (count_in(line, "prompt_eval_count"), count_in(line, "eval_count"))
                reason = text_in(line, "done_reason") or None
                return answer_of(said.text, said.thinking, reason, counts, tuple(calls))
        raise said.broken_off()

    async def _get(self, path: str) -> dict[str, Any]:
        async with self._opened("GET", path, None) as response:
            return _decoded((await body_of(response)).decode(errors="replace"))

    async def _lines(self, path: str, body: Mapping[str, Any]) -> AsyncIterator[dict[str, Any]]:
        """The JSON objects of an answer, one a line. Raises ``Refused``."""
        async with self._opened("POST", path, body) as response:
            async for line in lines_of(response):
                if line.strip():
                    yield _decoded(line)

    @asynccontextmanager
    async def _opened(self, method: str, path: str, body: Mapping[str, Any] | None) -> AsyncIterator[Any]:
        import httpx2

        try:
            async with self._client.stream(method, path, json=body) as response:
                if not response.is_success:
                    words = server_words((await body_of(response)).decode(errors="replace"))
                    wait = retry_after(response.headers.get("retry-after"))
                    raise Refused(words, status=response.status_code, retry_after=wait)
                yield response
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            raise Refused(str(error), reached=False) from error
        except httpx2.HTTPError as error:
            raise Refused(str(error) or type(error).__name__) from error


def _own_names(options: Mapping[str, Any]) -> dict[str, Any]:
    return {_NAMES.get(name, name): value for name, value in options.items()}


def _decoded(line: str) -> dict[str, Any]:
    """Raises ``Refused`` for what is no JSON, and for an error in the place of an answer."""
    value = object_of(line)
    if value.get("error"):
        raise Refused(str(value["error"]), status=500)
    return value


def _call(call: Mapping[str, Any], place: int) -> ToolCall:
    """Ollama has no names for calls, and their arguments are no text."""
    function = map_in(call, "function")
    return ToolCall(f"call_{place}", text_in(function, "name"), arguments_in(function) or "{}")


def _object(arguments: str) -> dict[str, Any]:
    try:
        value = json.loads(arguments)
    except ValueError:
        return {"input": arguments}
    return value if isinstance(value, dict) else {"input": value}


def _message(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message as Ollama has it: the images beside the text, as base64."""
    content = message["content"]
    if calls := message.get("tool_calls"):
        functions = [call["function"] for call in calls]
        asked = [{"function": {"name": f["name"], "arguments": _object(f["arguments"])}} for f in functions]
        return {"role": message["role"], "content": content, "tool_calls": asked}
    if isinstance(content, str):
        return {name: value for name, value in message.items() if name != "tool_call_id"}
    images = [part["image_url"]["url"] for part in content if part["type"] == "image_url"]
    for image in images:
        if not image.startswith("data:"):
            raise GenerationError(f"Ollama takes image files, not addresses: {image}")
    text = "".join(part["text"] for part in content if part["type"] == "text")
    return {"role": message["role"], "content": text, "images": [image.partition("base64,")[2] for image in images]}
