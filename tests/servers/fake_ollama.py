"""A small HTTP server that speaks Ollama's own protocol."""

from __future__ import annotations

import json
from typing import Any

from local_http import Handler, LocalHttp


class _Handler(Handler):
    protocol_version = "HTTP/1.0"
    owner: FakeOllama

    def do_GET(self) -> None:
        if self.owner.key and self.headers["Authorization"] != f"Bearer {self.owner.key}":
            self.reply(401, b'{"error": "unauthorized"}')
            return
        self._lines({"models": [{"name": name} for name in self.owner.models]})

    def do_POST(self) -> None:
        body = self.body()
        if self.path == "/api/show":
            self._lines({"parameters": 'stop "<|end|>"\nnum_ctx    64' if body["model"] == "smol" else ""})
            return
        self.owner.bodies.append((self.path, body))
        if self.path == "/api/pull":
            if body["model"] == "none":
                self._lines({"status": "pulling manifest"}, {"error": "file does not exist"})
                return
            if body["model"] == "torn":
                self._lines({"status": "pulling", "total": 100, "completed": 50})
                return
            self.owner.models.append(body["model"])
            states = [{"status": "pulling", "total": 100, "completed": done} for done in (50, 100)]
            self._lines(*states, {"status": "success"})
            return
        content = body["messages"][-1]["content"]
        if body.get("tools") and body["messages"][-1]["role"] == "user":
            call = {"function": {"name": "search", "arguments": {"input": content}}}
            self._lines(
                {
                    "message": {"content": "", "tool_calls": [call] * self.owner.calls},
                    "done": True,
                    "done_reason": "stop",
                }
            )
        elif content == "half":
            self._lines({"message": {"content": "It is"}, "done": False})
        elif content == "crash":
            self._lines({"error": "the runner has crashed"})
        else:
            tokens = ['{"town": ', '"Gullstead"}'] if "format" in body else ["It is ", content]
            end = {"done": True, "done_reason": "stop", "prompt_eval_count": 9, "eval_count": 2}
            thought = {"message": {"content": "", "thinking": "Let me see."}, "done": False}
            if not body["stream"]:
                self._lines({"message": {"content": "".join(tokens)}, **end})
                return
            said = [{"message": {"content": token}, "done": False} for token in tokens]
            self._lines(thought, *said, {"message": {"content": ""}, **end})

    def _lines(self, *values: dict[str, Any]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson")
        self.end_headers()
        for value in values:
            self.wfile.write(json.dumps(value).encode() + b"\n")


class FakeOllama(LocalHttp):
    """``models`` are those it has, ``bodies`` what it was asked. With a ``key`` it asks for that."""

    handler = _Handler

    def __init__(self) -> None:
        super().__init__()
        self.models = ["smol:latest"]
        self.key = ""
        self.calls = 1
        """How many tools it calls at once."""
        self.bodies: list[tuple[str, dict[str, Any]]] = []
