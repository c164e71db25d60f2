"""A small HTTP server that speaks the OpenAI protocol; the model's name says how it behaves."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

LIMIT = 400
"""Letters that the model ``ctx`` takes."""


class FakeEndpoint:
    """Runs in a thread; ``seen`` counts the requests of each model."""

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()
        self.bodies: list[dict[str, Any]] = []
        owner = self

        class Handler(_Handler):
            endpoint = owner

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> FakeEndpoint:
        # A short poll: shutdown waits for one.
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    endpoint: FakeEndpoint

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

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
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        model = body["model"]
        self.endpoint.seen[model] += 1
        self.endpoint.bodies.append(body)
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
        behave = _CHAT.get(model, _stream)
        behave(self, body, self.endpoint.seen[model])

    def _embeddings(self, body: dict[str, Any]) -> None:
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
            case "locked":
                self.error(401, "Wrong key.")
                return
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
        self.answer(200, {"results": rows})

    def answer(self, status: int, value: dict[str, Any], headers: dict[str, str] | None = None) -> None:
        """A JSON response."""
        content = json.dumps(value).encode()
        self.send_response(status)
        for name, text in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, text)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

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
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for token in tokens:
            self._event({"index": 0, "delta": {"content": token}, "finish_reason": None})
        if reason is not None:
            self._event({"index": 0, "delta": {}, "finish_reason": reason}, usage={"prompt_tokens": 7})
            self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True

    def page(self, text: str) -> None:
        """What a proxy says in the server's place."""
        content = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

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
        handler.error(429, "Too fast.", "rate_limit_exceeded", {"Retry-After": "1"})
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
    """Says again what is asked of a text, "Is it THIS?"; refuses some, as a filter does."""
    text = said(body).partition("Is it ")[2].partition("?")[0]
    if text == "bad":
        handler.error(400, "The content was filtered.", "content_filter")
    else:
        handler.message(text)


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


_CHAT: dict[str, Behaviour] = {
    "quota": _quota,
    "retry-after": _retry_after,
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
