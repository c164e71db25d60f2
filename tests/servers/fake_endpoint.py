"""A small HTTP server that speaks the OpenAI protocol; the model's name says how it behaves."""

from __future__ import annotations

import base64
import json
import socket
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from local_http import Handler, LocalHttp

LIMIT = 400
"""Letters that the model ``ctx`` takes."""


Part = Callable[[dict[str, Any]], str | dict[str, Any]]
"""What a model says to a request: a text, or a call ``{"name", "arguments"}`` of a tool."""


class _Handler(Handler):
    owner: FakeEndpoint

    def do_GET(self) -> None:
        """The models, as vLLM lists them; and what llama.cpp's server says of itself."""
        if self.path.endswith("/models"):
            vllm = {"id": "window", "max_model_len": 100}
            self.answer(200, {"data": [vllm, {"id": "props", "owned_by": "llamacpp"}]})
        elif self.path == "/props":
            self.answer(200, {"default_generation_settings": {"n_ctx": 60}})
        else:
            self.answer(404, {"detail": "Not Found"})

    def do_POST(self) -> None:
        body = self.body()
        model = body["model"]
        self.owner.seen[model] += 1
        self.owner.bodies.append(body)
        self.streams = bool(body.get("stream"))
        if self.path == "/tokenize":
            words = sum(len(message["content"].split()) for message in body["messages"])
            self.answer(200, {"count": words, "max_model_len": 100})
            return
        if self.path.endswith("/embeddings"):
            self._embeddings(body)
            return
        if self.path.endswith("/rerank"):
            self._rerank(body)
            return
        if model in self.owner.parts:
            self._play(self.owner.parts[model](body))
            return
        behave = _CHAT.get(model, _stream)
        behave(self, body, self.owner.seen[model])

    def _embeddings(self, body: dict[str, Any]) -> None:
        """Of texts, and as Infinity does of images (``modality``), which are data addresses: by the words in them."""
        if body.get("modality") == "image":
            heads, _, contents = zip(*(address.partition(";base64,") for address in body["input"]), strict=True)
            assert set(heads) <= {"data:image/png", "data:image/jpeg"}, heads
            body = {**body, "input": [base64.b64decode(content).decode("latin-1") for content in contents]}
        data = [
            {"object": "embedding", "index": index, "embedding": [float("light" in text), float("mill" in text), 0.1]}
            for index, text in enumerate(body["input"])
        ]
        match body["model"]:
            case "short":
                data = data[:-1]
            case "dict":
                self.answer(200, {"embeddings": [entry["embedding"] for entry in data]})
                return
            case "nan":
                data[0]["embedding"] = [float("nan"), 1.0, 1.0]
            case "zeros":
                data[0]["embedding"] = [0.0, 0.0, 0.0]
            case "locked":
                self.error(401, "Wrong key.")
                return
            case given if given.startswith("vector "):
                data = [{**entry, "embedding": json.loads(given.removeprefix("vector "))} for entry in data]
        self.answer(200, {"object": "list", "model": body["model"], "data": data[::-1]})

    def _rerank(self, body: dict[str, Any]) -> None:
        """Scored by the letters that a passage shares with words of the query, best first, as Cohere's API does."""
        if body["model"] == "rerank-404":
            self.answer(404, {"detail": "Not Found"})
            return
        if body["model"] == "rerank-noresults":
            self.answer(200, {"scores": [0.5]})
            return
        if body["model"] == "locked":
            self.error(401, "Wrong key.")
            return
        words = set(body["query"].lower().strip("?").split()) - {"the", "who"}
        rows = [
            {"index": n, "relevance_score": sum(word.rstrip("s") in text for word in words), "document": {"text": text}}
            for n, text in enumerate(body["documents"])
        ]
        rows.sort(key=lambda row: -row["relevance_score"])
        match body["model"]:
            case "rerank-short":
                rows = rows[:-1]
            case "rerank-odd":
                rows[0] = {"index": 99, "relevance_score": 1}
            case "rerank-texts":
                rows = [{"document": row["document"]["text"]} for row in rows]
            case "rerank-documents":
                rows = [{"document": row["document"]} for row in rows]
            case given if given.startswith("score "):
                rows[0]["relevance_score"] = json.loads(given.removeprefix("score "))
        self.answer(200, {"results": rows})

    def answer(self, status: int, value: dict[str, Any], headers: dict[str, str] | None = None) -> None:
        """A JSON response."""
        self.reply(status, json.dumps(value).encode(), **(headers or {}))

    def error(self, status: int, message: str, code: str = "", headers: dict[str, str] | None = None) -> None:
        """An error as OpenAI words it."""
        self.answer(status, {"error": {"message": message, "code": code, "type": code}}, headers)

    def message(self, content: str | None, reason: str = "stop", **more: Any) -> None:
        """A whole answer, not streamed."""
        message = {"role": "assistant", "content": content, **more}
        choice = {"index": 0, "finish_reason": reason, "message": message}
        usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
        whole = {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
        self.answer(200, {**whole, "usage": usage})

    def stream(self, tokens: list[str], reason: str | None = "stop") -> None:
        """An answer as server-sent events, or whole where no stream was asked for; without a reason it breaks off."""
        if not self.streams and reason is not None:
            self.message("".join(tokens), reason)
            return
        self.begin_stream()
        for token in tokens:
            self._event({"index": 0, "delta": {"content": token}, "finish_reason": None})
        if reason is not None:
            self._event({"index": 0, "delta": {}, "finish_reason": reason}, usage={"prompt_tokens": 7})
            self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True

    def _play(self, part: str | dict[str, Any]) -> None:
        """A message as a test's part gives it: a text, or the call of a tool, which a stream has in pieces."""
        if isinstance(part, str):
            self.stream([part])
            return
        call = {"index": 0, "id": "call_7", "type": "function", "function": part}
        if not self.streams:
            self.message(None, "tool_calls", tool_calls=[call])
            return
        self.begin_stream()
        half = len(part["arguments"]) // 2
        first = {**call, "function": {"name": part["name"], "arguments": part["arguments"][:half]}}
        second = {"index": 0, "function": {"arguments": part["arguments"][half:]}}
        for piece in (first, second):
            self._event({"index": 0, "delta": {"tool_calls": [piece]}, "finish_reason": None})
        self._event({"index": 0, "delta": {}, "finish_reason": "tool_calls"})
        self.close_connection = True

    def begin_stream(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()

    def page(self, text: str) -> None:
        """What a proxy says in the server's place."""
        self.reply(200, text.encode(), "text/html")

    def hang_up(self) -> None:
        """No answer at all."""
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def _event(self, choice: dict[str, Any], **more: Any) -> None:
        chunk = {"id": "x", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": [choice], **more}
        self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())


Behaviour = Callable[[_Handler, dict[str, Any], int], None]


def _stream(handler: _Handler, body: dict[str, Any], count: int) -> None:
    handler.stream(["It is ", "\\boxed{", "Gull", "stead}"])


def _quota(handler: _Handler, body: dict[str, Any], count: int) -> None:
    handler.error(429, "You have no credit left.", "insufficient_quota")


def _retry_after(handler: _Handler, body: dict[str, Any], count: int) -> None:
    if count == 1:
        handler.error(429, "Too fast.", "rate_limit_exceeded", {"retry_after": "1"})
    else:
        handler.stream(["fine"])


def _flaky(handler: _Handler, body: dict[str, Any], count: int) -> None:
    if count <= 2:
        handler.error(500, "the worker was restarted")
    else:
        handler.stream(["fine"])


def _always_500(handler: _Handler, body: dict[str, Any], count: int) -> None:
    handler.error(500, "the worker was restarted")


def _context(handler: _Handler, body: dict[str, Any], count: int) -> None:
    if len(said(body)) > LIMIT:
        handler.error(400, "1203 tokens were asked for, 512 fit", "context_length_exceeded")
    else:
        handler.stream(["fine"])


def said(body: dict[str, Any]) -> str:
    """The last message of a request."""
    content = body["messages"][-1]["content"]
    return content if isinstance(content, str) else json.dumps(content)


def _choosy(handler: _Handler, body: dict[str, Any], count: int) -> None:
    """Refuses some prompts, as a filter does."""
    if "bad" in said(body):
        handler.error(400, "The content was filtered.", "content_filter")
    else:
        handler.stream([f"re {said(body)}"])


def _chooser(handler: _Handler, body: dict[str, Any], count: int) -> None:
    """Says again what is asked of a text, "Is it THIS?"; some it refuses, as a filter does, and one it does not end."""
    text = said(body).partition("Is it ")[2].partition("?")[0]
    if text == "bad":
        handler.error(400, "The content was filtered.", "content_filter")
    else:
        handler.message(text, "length" if text == "long" else "stop")


def _broke(handler: _Handler, body: dict[str, Any], count: int) -> None:
    """Its credit ends with the third request, until the fifth."""
    if 3 <= count <= 4:
        handler.error(429, "You have no credit left.", "insufficient_quota")
    else:
        handler.stream([f"re {said(body)}"])


def _half(handler: _Handler, body: dict[str, Any], count: int) -> None:
    if count == 1:
        handler.stream(["It is Gul"], reason=None)
    else:
        handler.stream(["It is Gullstead"])


def _away(handler: _Handler, body: dict[str, Any], count: int) -> None:
    """Goes away once, and is back."""
    if count == 1:
        handler.hang_up()
    else:
        handler.stream(["back"])


def _slow(handler: _Handler, body: dict[str, Any], count: int) -> None:
    if "slow" in said(body):
        time.sleep(0.6)
    handler.stream(["there"])


def _thoughtful(handler: _Handler, body: dict[str, Any], count: int) -> None:
    handler.message("Gullstead", reasoning_content="Let me see.")


def _odd(handler: _Handler, body: dict[str, Any], count: int) -> None:
    """A message whose parts a test gives as JSON in the prompt, where they are of another shape than they should be."""
    text = said(body)
    if not text.startswith("{"):
        handler.stream([text])
    elif handler.streams:
        handler.begin_stream()
        handler.wfile.write(f"data: {text}\n\ndata: [DONE]\n\n".encode())
        handler.close_connection = True
    else:
        handler.reply(200, text.encode())


def _trickle(handler: _Handler, body: dict[str, Any], count: int) -> None:
    """Stays alive by comments, and never answers."""
    handler.begin_stream()
    for _ in range(100):
        handler.wfile.write(b": still there\n\n")
        time.sleep(0.02)


def _endless(handler: _Handler, body: dict[str, Any], count: int) -> None:
    """A line without end."""
    handler.begin_stream()
    with suppress(OSError):
        for _ in range(40):
            handler.wfile.write(b"data" * 250_000)


_CHAT: dict[str, Behaviour] = {
    "odd": _odd,
    "trickle": _trickle,
    "endless": _endless,
    "quota": _quota,
    "retry-after": _retry_after,
    "tomorrow": lambda handler, body, count: handler.error(429, "Too fast.", headers={"retry_after": "86400"}),
    "flaky-500": _flaky,
    "always-500": _always_500,
    "ctx": _context,
    "null": lambda handler, body, count: handler.message(None),
    "whole": lambda handler, body, count: handler.message("not streamed"),
    "locked": lambda handler, body, count: handler.error(401, "Wrong key."),
    "missing": lambda handler, body, count: handler.error(404, "No such model."),
    "echo": lambda handler, body, count: handler.stream([said(body)]),
    "choosy": _choosy,
    "chooser": _chooser,
    "broke": _broke,
    "half": _half,
    "always-half": lambda handler, body, count: handler.stream(["It is Gul"], reason=None),
    "away": _away,
    "slow": _slow,
    "html": lambda handler, body, count: handler.page("<html>Sign in</html>"),
    "error-in-200": lambda handler, body, count: handler.answer(200, {"error": {"message": "overloaded"}}),
    "cut": lambda handler, body, count: handler.stream(["a long"], reason="length"),
    "thinks": lambda handler, body, count: handler.stream(["<think>Let me", " see.</think>\n", "Gullstead"]),
    "thoughtful": _thoughtful,
    "json": lambda handler, body, count: handler.stream(['{"town": "Gullstead"}']),
}


class FakeEndpoint(LocalHttp):
    """``seen`` counts the requests of each model. ``parts`` has models that a test plays."""

    handler = _Handler

    def __init__(self) -> None:
        super().__init__()
        self.url += "/v1"
        self.seen: Counter[str] = Counter()
        self.bodies: list[dict[str, Any]] = []
        self.parts: dict[str, Part] = {}
