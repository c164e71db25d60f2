"""One retriever for several pipelines: a small HTTP server with the protocol of ``retriever_deploy_search``.

    ragwb serve PARAMETER_FILE [--host 127.0.0.1] [--port 64501]

The file is a pipeline's parameter file (its part ``retriever``) or a server's parameter.yaml.
``POST /search`` takes ``{"query_list": [...], "top_k": 5, "query_instruction": ""}`` and gives
``{"ret_psg": [[...]]}``, with ``ret_ids`` and ``ret_scores`` beside it; ``GET /health`` says what is served.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from fastmcp.exceptions import ToolError
from opening import open_retriever
from retrieval import Retriever, check_top_k

from workbench.mcp.paths import project
from workbench.pipeline.environment import Environment

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

_OWN_NAMES = ("localhost", "127.0.0.1", "::1", "[::1]")
_LONGEST_BODY = 16 << 20
"""Bytes of a request."""


def application(retriever: Retriever, host: str) -> Starlette:
    """The HTTP application. A bad request is answered with 400 and ``{"error": ...}``.

    ``host`` is what it listens on. At this machine's own address, requests by another name are refused: a page in the
    user's browser could ask by one that leads here.
    """
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.middleware.trustedhost import TrustedHostMiddleware
    from starlette.requests import ClientDisconnect
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    async def search(request: Request) -> Response:
        try:
            queries, top_k, instruction = _read(await _body(request))
            if retriever.index is None:
                found = await asyncio.to_thread(retriever.keyword_search, queries, top_k)
            else:
                found = await retriever.search(queries, top_k, instruction)
        except ToolError as error:
            return JSONResponse({"error": str(error)}, status_code=400)
        except ClientDisconnect:  # nobody hears the answer
            return JSONResponse({"error": "the request broke off"}, status_code=400)
        return JSONResponse({
            "ret_psg": [[hit.text for hit in hits] for hits in found],
            "ret_ids": [[hit.id for hit in hits] for hits in found],
            "ret_scores": [[hit.score for hit in hits] for hits in found],
        })  # fmt: skip

    async def health(request: Request) -> Response:
        corpus = retriever.corpus
        model = retriever.need_embedder().name
        return JSONResponse({"model": model, "corpus": str(corpus.path) if corpus else None})

    routes = [Route("/search", search, methods=["POST"]), Route("/health", health)]
    names = [*_OWN_NAMES, host] if host in _OWN_NAMES or host.startswith("127.") else ["*"]
    return Starlette(
        routes=routes, middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=names, www_redirect=False)]
    )


async def _body(request: Request) -> bytes:
    """Raises ``ToolError`` as soon as it is too long: what is too long is not kept."""
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > _LONGEST_BODY:
            raise ToolError(f"the request is longer than the {_LONGEST_BODY:,} bytes that are taken")
    return bytes(body)


def _read(body: bytes) -> tuple[list[str], int, str]:
    import orjson

    try:
        asked = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise ToolError(f"the request is not JSON ({error})") from error
    if not isinstance(asked, dict) or not isinstance(asked.get("query_list"), list):
        raise ToolError('the request must be {"query_list": [...], "top_k": 5, "query_instruction": ""}')
    queries, top_k = asked["query_list"], asked.get("top_k", 5)
    instruction = asked.get("query_instruction")
    if not isinstance(instruction, str | None):
        raise ToolError("query_instruction must be text")
    if not all(isinstance(query, str) for query in queries) or type(top_k) is not int:
        raise ToolError("query_list must hold texts, and top_k be a whole number")
    check_top_k(top_k)
    return queries, top_k, instruction or ""


def read_settings(file: Path) -> Mapping[str, Any]:
    """The retriever's parameters of a file. Raises ``ToolError``."""
    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise ToolError(f"{file} can't be read: {error}") from error
    settings = content.get("retriever", content) if isinstance(content, dict) else None
    if not isinstance(settings, dict) or "corpus_path" not in settings:
        raise ToolError(f"{file}: no retriever parameters in it (corpus_path, backend, ...)")
    filled, missing = Environment(project()).expanded(settings)
    if missing:
        raise ToolError(f"{file}: not set in the environment: {', '.join(missing)}")
    return dict(filled)


async def serve(parameters: Path, host: str, port: int) -> None:
    """Load the retriever and serve it until interrupted, in one event loop: its connections belong to that.

    Raises ``ToolError`` where nothing could be found with it: a missing or stale index.
    """
    import uvicorn

    retriever = await open_retriever(read_settings(parameters))
    try:
        if retriever.index is None:
            retriever.make_keywords(overwrite=False)
        else:
            await retriever.opened_index(retriever.collection)
        for warning in retriever.warnings:
            print(warning, file=sys.stderr)
        app = application(retriever, host)
        await uvicorn.Server(uvicorn.Config(app, host=host, port=port, log_level="info")).serve()
    finally:
        await retriever.close()


def main() -> None:
    """``ragwb serve``; with exit code 2 where it can't be."""
    parser = argparse.ArgumentParser(description="Serve a retriever to several pipelines.")
    parser.add_argument("parameters", type=Path, help="a pipeline's parameter file, or a retriever's parameter.yaml")
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (default: this machine only)")
    parser.add_argument("--port", type=int, default=64501)
    options = parser.parse_args()
    try:
        asyncio.run(serve(options.parameters, options.host, options.port))
    except KeyboardInterrupt:
        pass
    except ToolError as error:
        print(error, file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
