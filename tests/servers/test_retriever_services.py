"""The retriever over stdio and its services: the web, each by its protocol, and a retriever that is served."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
import pytest_asyncio
import yaml
from fastmcp.exceptions import ToolError
from stdio import StdioServer, running

from workbench.api.pipeline_tests import PipelineRunner


class WebServices:
    """The four services by their own protocols on one local address; ``asked`` has every request."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.refusals: list[tuple[int, dict[str, str], Any]] = []
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, format: str, *args: object) -> None:
                """Say nothing."""

            def do_POST(self) -> None:
                self.reply(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

            def do_GET(self) -> None:
                self.reply({})

            def reply(self, body: dict[str, Any]) -> None:
                headers = {name.lower(): value for name, value in self.headers.items()}
                owner.asked.append({"path": self.path, "body": body, "headers": headers})
                status, extra, value = owner.refusals.pop(0) if owner.refusals else (200, {}, results(self.path, body))
                content = value if isinstance(value, bytes) else json.dumps(value).encode()
                self.send_response(status)
                for name, text in {**extra, "Content-Length": str(len(content))}.items():
                    self.send_header(name, text)
                self.end_headers()
                self.wfile.write(content)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def results(path: str, body: dict[str, Any]) -> Any:
    """Three pages for any query, the second without text."""
    query = body.get("query") or body.get("search_query") or parse_qs(path.removeprefix("/v1/search/"))["q"][0]
    pages = [(f"https://p/{n}", text) for n, text in enumerate([f"about {query}", "", f"more of {query}"])]
    if path == "/web_search":
        return {"search_result": [{"link": link, "title": "t", "content": text} for link, text in pages]}
    if path.startswith("/v1/search/"):
        return {"results": [{"link": link, "title": "t", "description": text} for link, text in pages]}
    key = "text" if "contents" in body else "content"
    return {"results": [{"url": link, "title": "t", "score": 0.5, key: text} for link, text in pages]}


@pytest.fixture
def web() -> Iterator[WebServices]:
    services = WebServices()
    yield services
    services.close()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def retriever(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[StdioServer]:
    async with running("retriever", tmp_path_factory.mktemp("services"), EXA_API_KEY="from-env") as server:
        yield server


@pytest.mark.parametrize("backend", ["tavily", "exa", "zhipuai", "serply"])
async def test_each_service_is_asked_by_its_protocol(retriever: StdioServer, web: WebServices, backend: str) -> None:
    configs: dict[str, Any] = {backend: {"base_url": web.url, "api_key": "k"}}
    options = {"websearch_backend": backend, "websearch_backend_configs": configs}
    found = await retriever(
        "retriever_websearch", query_list=["a mill?", "There is no query.", "light & sea"], top_k=2, **options
    )
    assert found["ret_psg"] == [["about a mill?", "more of a mill?"], [], ["about light & sea", "more of light & sea"]]
    assert found["ret_ids"][0] == ["https://p/0", "https://p/2"]
    batch = await retriever("retriever_batch_websearch", batch_query_list=[["x"], []], top_k=1, **options)
    assert batch["ret_psg_ls"] == [[["about x"]], []]
    sent = web.asked[0]
    path, body = {
        "tavily": ("/search", {"max_results": 2, "query": "a mill?"}),
        "exa": ("/search", {"numResults": 2, "contents": {"text": True}, "query": "a mill?"}),
        "zhipuai": ("/web_search", {"search_engine": "search_std", "count": 2, "search_query": "a mill?"}),
        "serply": ("/v1/search/q=a+mill%3F&num=2", {}),
    }[backend]
    assert (sent["path"], sent["body"]) == (path, body)
    if backend in ("tavily", "zhipuai"):
        assert sent["headers"]["authorization"] == "Bearer k"
    else:
        assert sent["headers"]["x-api-key"] == "k"


async def test_a_service_is_asked_again_where_that_helps(retriever: StdioServer, web: WebServices) -> None:
    configs = {"exa": {"base_url": web.url, "base_delay": 0.01}}
    options: dict[str, Any] = {"websearch_backend": "exa", "websearch_backend_configs": configs}
    web.refusals = [(503, {}, {"error": "busy"}), (429, {"Retry-After": "0.02"}, {"error": "slow down"})]
    assert (await retriever("retriever_websearch", query_list=["x"], **options))["ret_psg"] == [
        ["about x", "more of x"]
    ]
    assert [request["headers"]["x-api-key"] for request in web.asked] == ["from-env"] * 3
    for status, value, message in [
        (401, {"error": "bad key"}, "answered 401: 'bad key'; set the environment variable EXA_API_KEY"),
        (429, {"error": {"code": "insufficient_quota", "message": "No credit."}}, "answered 429: 'No credit.'"),
        (404, {"detail": "Not Found"}, "/search answered 404: 'Not Found'; is this path of the address right?"),
        (200, b"<html>hello</html>", "did not answer with JSON, but with '<html>hello</html>'"),
        (200, {"answers": []}, "an answer without results: .*answers"),
    ]:
        web.asked.clear()
        web.refusals = [(status, {}, value)]
        with pytest.raises(ToolError, match=message):
            await retriever("retriever_websearch", query_list=["x"], **options)
        assert len(web.asked) == 1
    web.refusals = [(500, {}, {"error": "down"})] * 4
    with pytest.raises(ToolError, match=r"answered 500: 'down' \(after 4 tries\)"):
        await retriever("retriever_websearch", query_list=["x"], **options)


async def test_services_that_can_not_be_asked(retriever: StdioServer) -> None:
    with pytest.raises(ToolError, match="needs a key: set the environment variable TAVILY_API_KEY"):
        await retriever("retriever_websearch", query_list=["x"])
    with pytest.raises(ToolError, match=r"unknown retriever.websearch_backend 'google'; known are tavily, exa"):
        await retriever("retriever_websearch", query_list=["x"], websearch_backend="google")
    configs = {"exa": {"base_url": "http://127.0.0.1:9", "retries": 0}}
    with pytest.raises(ToolError, match=r"no answer from http://127.0.0.1:9/search .*is it running"):
        await retriever(
            "retriever_websearch", query_list=["x"], websearch_backend="exa", websearch_backend_configs=configs
        )


async def test_the_shipped_pipeline_searches_the_web(ragwb_pipeline: PipelineRunner, web: WebServices) -> None:
    configs = {"tavily": {"api_key": "k", "base_url": web.url}}
    run = await ragwb_pipeline("pipelines/web_search.yaml", sets={"retriever.websearch_backend_configs": configs})
    questions, passages = run.variable("q_ls"), run.variable("ret_psg")
    assert passages == [[f"about {question}", f"more of {question}"] for question in questions]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a retriever that is served by its own command."""
    folder = tmp_path_factory.mktemp("served")
    corpus = folder / "corpus.jsonl"
    corpus.write_text('{"id": "m", "contents": "the salt mill"}\n{"id": "l", "contents": "the north light"}\n')
    parameters = folder / "rag_parameter.yaml"
    parameters.write_text(yaml.safe_dump({"retriever": {"corpus_path": str(corpus), "backend": "wordllama"}}))
    command = [sys.executable, "-m", "workbench.cli.main", "serve", str(parameters), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        line = next(line for line in process.stderr if "running on" in line)
        threading.Thread(target=process.stderr.read, daemon=True).start()
        yield line.split("running on ")[1].split()[0]
        process.terminate()


async def test_a_served_retriever_is_searched_by_its_address(retriever: StdioServer, served: str) -> None:
    for url in (served, served.removeprefix("http://"), f"{served}/other?x=1"):
        found = await retriever(
            "retriever_deploy_search", retriever_url=url, query_list=["lighthouse", "flour mill", ""], top_k=1
        )
        assert found["ret_psg"] == [["the north light"], ["the salt mill"], []]
        assert found["ret_ids"] == [["l"], ["m"], []]


async def test_the_served_retriever_says_what_is_wrong(served: str) -> None:
    import httpx2

    async with httpx2.AsyncClient(base_url=served) as client:
        for body, message in [
            ({"query_list": "x"}, "the request must be"),
            ({"query_list": [1]}, "must hold texts"),
            ({"query_list": ["x"], "top_k": 0}, "top_k must be 1 or more"),
        ]:
            answer = await client.post("/search", json=body)
            assert answer.status_code == 400
            assert message in answer.json()["error"]
        assert (await client.get("/health")).json()["model"] == "wordllama"


async def test_an_address_that_serves_no_retriever(retriever: StdioServer, web: WebServices) -> None:
    web.refusals = [(200, {}, {"ret_psg": []})]
    with pytest.raises(ToolError, match="/search did not give ret_psg for 1 queries"):
        await retriever("retriever_deploy_search", retriever_url=web.url, query_list=["x"])


def test_parameters_that_are_no_retrievers(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text("a: 1\n")
    command = [sys.executable, "-m", "workbench.cli.main", "serve", str(tmp_path / "p.yaml")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "no retriever parameters in it" in done.stderr
    assert "Traceback" not in done.stderr
