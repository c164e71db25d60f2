"""The model behind a local address that speaks the OpenAI protocol, and counts what it is asked."""

from __future__ import annotations

import base64
import json
import threading
from collections import Counter
from collections.abc import Container
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.scripted.knowledge import records, searched_web
from tests.scripted.model import Mood, NotRecognised, answer, next_turn
from tests.scripted.templates import recognise

DIALOGUE = "dialogue"
"""Counted for messages of several turns."""


class ScriptedModel:
    """Runs in a thread. ``calls`` counts prompts by template; ``strange`` are those it could not place.

    The same address answers web searches as Tavily does. ``pictures`` is a folder: what a picture shows is known by
    the file there that has its bytes, since reading it is not what is tested.
    """

    def __init__(self) -> None:
        self.mood: Mood = "good"
        self.calls: Counter[str] = Counter()
        self.strange: list[str] = []
        self.made: set[str] = set()
        """The pipelines whose output is there for others."""
        self.searches = 0
        self.pictures: Path | None = None
        self._lock = threading.Lock()
        owner = self

        class Handler(_Handler):
            model = owner

        self._server = _Server(("127.0.0.1", 0), Handler)
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
        self.searches = 0

    @property
    def count(self) -> int:
        return sum(self.calls.values())

    def sets(self, aliases: Container[str]) -> list[str]:
        """What a pipeline with these servers is given to ask this model, and this web."""
        model = {"model_name": "scripted", "base_url": f"{self.url}/v1", "api_key": "none", "concurrency": 8}
        web = {"tavily": {"api_key": "none", "base_url": self.url, "retries": 0}}
        sets = {
            "generation.backend": "openai",
            "generation.backend_configs": {"openai": {**model, "retries": 0}},
            "retriever.websearch_backend_configs": web,
        }
        return [f"{name}={json.dumps(value)}" for name, value in sets.items() if name.partition(".")[0] in aliases]

    def reply(self, messages: list[dict[str, Any]]) -> str | None:
        """What the model says to a conversation; None where it is asked what no shipped template asks."""
        turns = [message for message in messages if message["role"] != "system"]
        first = self._read(turns[0]["content"])
        try:
            if len(turns) > 1 and recognise(first[0]) is None:
                template, said = DIALOGUE, next_turn(turns, self.mood)
            else:  # an agent's prompt is the first; what it observed comes later
                later = "\n".join(turn["content"] for turn in turns[1:] if turn["role"] == "user")
                template, said = answer(*first, later)
        except NotRecognised as error:
            with self._lock:
                self.strange.append(str(error))
            return None
        with self._lock:
            self.calls[template] += 1
        return said

    def search(self, query: str, count: int) -> dict[str, Any]:
        """The scripted web's answer to a query."""
        with self._lock:
            self.searches += 1
        pages = searched_web(query)[:count]
        return {"results": [{"url": f"https://web.example/{p.title}", "content": p.contents} for p in pages]}

    def _read(self, content: Any) -> tuple[str, Mood, str]:
        """A prompt's text, the mood it is read in, and what its pictures show."""
        if isinstance(content, str):
            return content, self.mood, ""
        text = "".join(part.get("text", "") for part in content)
        pictures = [part["image_url"]["url"] for part in content if part["type"] == "image_url"]
        return text, self.mood, "\n".join(map(self._shown, pictures))

    def _shown(self, address: str) -> str:
        assert self.pictures is not None
        taken = base64.b64decode(address.partition(",")[2])
        texts = [row["contents"] for row in records("harbour_guide_pages.jsonl")]
        number = next(n for n in range(len(texts)) if (self.pictures / f"page_{n}.jpg").read_bytes() == taken)
        return texts[number]


class _Server(ThreadingHTTPServer):
    request_queue_size = 64  # all prompts of a step come at once; one that must wait at the door waits a second


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16  # an answer in one piece: a second one would wait for the first one's receipt
    model: ScriptedModel

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/search":
            found = self.model.search(body["query"], body.get("max_results", 5))
            self._send(200, "application/json", json.dumps(found).encode())
            return
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
