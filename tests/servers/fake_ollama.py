"""A small HTTP server that speaks Ollama's own protocol."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class FakeOllama:
    """Runs in a thread; ``models`` are those it has, ``bodies`` what it was asked. With a ``key`` it asks for that."""

    def __init__(self) -> None:
        self.models = ["smol:latest"]
        self.key = ""
        self.bodies: list[tuple[str, dict[str, Any]]] = []
        owner = self

        class Handler(_Handler):
            ollama = owner

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> FakeOllama:
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    ollama: FakeOllama

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        if self.ollama.key and self.headers["Authorization"] != f"Bearer {self.ollama.key}":
            self.send_response(401)
            self.end_headers()
            self.wfile.write(b'{"error": "unauthorized"}')
            return
        self._lines({"models": [{"name": name} for name in self.ollama.models]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/api/show":
            self._lines({"parameters": 'stop "<|end|>"\nnum_ctx    64' if body["model"] == "smol" else ""})
            return
        self.ollama.bodies.append((self.path, body))
        if self.path == "/api/pull":
            if body["model"] == "none":
                self._lines({"status": "pulling manifest"}, {"error": "file does not exist"})
                return
            if body["model"] == "torn":
                self._lines({"status": "pulling", "total": 100, "completed": 50})
                return
            self.ollama.models.append(body["model"])
            states = [{"status": "pulling", "total": 100, "completed": done} for done in (50, 100)]
            self._lines(*states, {"status": "success"})
            return
        content = body["messages"][-1]["content"]
        if content == "half":
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
