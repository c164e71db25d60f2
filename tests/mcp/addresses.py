"""Servers on loopback: real ones in a process of their own, and one that answers as it is told to."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.mcp.conftest import SERVERS
from workbench.pipeline.project import RemoteAddress, ServerSource


def remote(alias: str, url: str, **options: Any) -> ServerSource:
    return ServerSource(alias, url, "address", Path.cwd(), address=RemoteAddress(url, **options))


class RealServer:
    """A FastMCP server over HTTP; see ``servers/http_workshop.py``."""

    def __init__(self, kind: str, path: str, log: Path, port: int = 0) -> None:
        self.kind, self.path, self.log = kind, path, log
        with log.open("ab") as errors:
            self.process = subprocess.Popen(
                [sys.executable, str(SERVERS / "http_workshop.py"), kind, path, str(port)],
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline())

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}{self.path}"

    def again(self) -> RealServer:
        """Another one at the same address, once this one has ended."""
        self.end()
        return RealServer(self.kind, self.path, self.log, self.port)

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


Answer = Callable[[BaseHTTPRequestHandler, bytes], None]


class Playing(ThreadingHTTPServer):
    """An HTTP server that answers every request by one function, and remembers them."""

    daemon_threads = True

    def __init__(self, answer: Answer) -> None:
        self.requests: list[tuple[str, str, dict[str, str], bytes]] = []
        self.released = threading.Event()
        playing = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_one_request(self) -> None:
                with contextlib.suppress(ConnectionError):
                    super().handle_one_request()

            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                headers = {name.lower(): value for name, value in self.headers.items()}
                playing.requests.append((self.command, self.path, headers, body))
                answer(self, body)

            do_GET = do_POST = do_DELETE = answer

            def log_message(self, format: str, *args: Any) -> None:
                pass

        super().__init__(("127.0.0.1", 0), Handler)

    def url(self, path: str = "/mcp") -> str:
        return f"http://127.0.0.1:{self.server_address[1]}{path}"


@contextlib.contextmanager
def playing(answer: Answer) -> Iterator[Playing]:
    server = Playing(answer)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.released.set()
        server.shutdown()
        thread.join()
        server.server_close()


def reply(handler: BaseHTTPRequestHandler, status: int, body: str = "", **headers: str) -> None:
    """A whole answer; ``content_type="text/html"`` becomes the header Content-Type."""
    data = body.encode()
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.send_header("Content-Length", str(len(data)))
    handler.end_headers()
    handler.wfile.write(data)


def stream(handler: BaseHTTPRequestHandler, *parts: str, **headers: str) -> None:
    """The beginning of a stream of events, with whatever is there already."""
    handler.send_response(200)
    for name, value in {"Content-Type": "text/event-stream", **headers}.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.send_header("Connection", "close")
    handler.close_connection = True
    handler.end_headers()
    for part in parts:
        handler.wfile.write(part.encode())
    handler.wfile.flush()
