"""The model behind a local address that speaks the OpenAI protocol, and counts what it is asked."""

from __future__ import annotations

import json
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.scripted.model import Mood, NotRecognised, answer


class ScriptedModel:
    """Runs in a thread. ``calls`` counts prompts by template; ``strange`` are those it could not place."""

    def __init__(self) -> None:
        self.mood: Mood = "good"
        self.calls: Counter[str] = Counter()
        self.strange: list[str] = []
        self._lock = threading.Lock()
        owner = self

        class Handler(_Handler):
            model = owner

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> ScriptedModel:
        # A short poll: shutdown waits for one.
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def begin(self, mood: Mood = "good") -> None:
        """Another run: nothing counted yet."""
        self.mood = mood
        self.calls.clear()
        self.strange.clear()

    @property
    def count(self) -> int:
        return sum(self.calls.values())

    def sets(self) -> tuple[str, ...]:
        """What a pipeline is given on the command line to ask this model."""
        config = {"model_name": "scripted", "base_url": f"{self.url}/v1", "api_key": "none", "concurrency": 8}
        configs = json.dumps({"openai": {**config, "retries": 0}})
        return ("generation.backend=openai", f"generation.backend_configs={configs}")

    def reply(self, messages: list[dict[str, Any]]) -> str | None:
        """What the model says to a conversation; None where it is asked what no shipped template asks."""
        prompt = _text(messages[-1]["content"])
        try:
            template, said = answer(prompt, self.mood)
        except NotRecognised as error:
            with self._lock:
                self.strange.append(str(error))
            return None
        with self._lock:
            self.calls[template] += 1
        return said


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: ScriptedModel

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        said = self.model.reply(body["messages"])
        if said is None:
            self._send(400, "application/json", json.dumps({"error": {"message": "no shipped template"}}).encode())
        elif body.get("stream"):
            chunks = [{"delta": {"content": said}, "finish_reason": None}, {"delta": {}, "finish_reason": "stop"}]
            events = [f"data: {json.dumps(_whole('chat.completion.chunk', chunk))}\n\n" for chunk in chunks]
            self._send(200, "text/event-stream", "".join([*events, "data: [DONE]\n\n"]).encode())
        else:
            choice = {"message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
            self._send(200, "application/json", json.dumps(_whole("chat.completion", choice)).encode())

    def _send(self, status: int, kind: str, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def _whole(kind: str, choice: dict[str, Any]) -> dict[str, Any]:
    return {"id": "s", "object": kind, "created": 0, "model": "scripted", "choices": [{"index": 0, **choice}]}
