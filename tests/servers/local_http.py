"""What the tests' small HTTP servers share: a free port of this machine, a thread, and an end."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, ClassVar, Self


class LocalHttp:
    """Runs while it is entered. A subclass names its ``handler``, which finds it as ``owner``."""

    handler: ClassVar[type[Handler]]

    def __init__(self) -> None:
        own = type("Own", (self.handler,), {"owner": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), own)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        # A short poll: shutdown waits for one.
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    owner: Any

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def body(self) -> dict[str, Any]:
        """The request's JSON."""
        asked: dict[str, Any] = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        return asked

    def reply(self, status: int, content: bytes, kind: str = "application/json", **headers: str) -> None:
        """A whole answer; ``retry_after="2"`` is the header Retry-After."""
        self.send_response(status)
        self.send_header("Content-Type", kind)
        for name, text in headers.items():
            self.send_header(name.replace("_", "-").title(), text)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
