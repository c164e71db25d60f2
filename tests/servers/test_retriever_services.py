"""The retriever over stdio and its services: the web, each by its protocol, and a retriever that is served."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from urllib.request import urlopen

import pytest
import pytest_asyncio
import yaml
from fake_endpoint import FakeEndpoint
from fastmcp.exceptions import ToolError
from local_http import Handler, LocalHttp
from stdio import StdioServer, running

from workbench.api.pipeline_tests import PipelineRunner


class _Handler(Handler):
    owner: WebServices

    def do_POST(self) -> None:
        self.answer(self.body())

    def do_GET(self) -> None:
        self.answer({})

    def answer(self, body: dict[str, Any]) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.owner.asked.append({"path": self.path, "body": body, "headers": headers})
        refusals = self.owner.refusals
        status, extra, value = refusals.pop(0) if refusals else (200, {}, results(self.path, body))
        self.reply(status, value if isinstance(value, bytes) else json.dumps(value).encode(), **extra)


class WebServices(LocalHttp):
    """The four services by their own protocols on one local address; ``asked`` has every request."""

    handler = _Handler

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[dict[str, Any]] = []
        self.refusals: list[tuple[int, dict[str, str], Any]] = []


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
    with WebServices() as services:
        yield services


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
    web.refusals = [(503, {}, {"error": "busy"}), (429, {"retry_after": "0.02"}, {"error": "slow down"})]
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


async def test_a_service_that_asks_for_a_long_wait_is_told(retriever: StdioServer, web: WebServices) -> None:
    configs = {"exa": {"base_url": web.url, "retries": None}}
    web.refusals = [(429, {"retry_after": "86400"}, {"error": "slow down"})]
    with pytest.raises(ToolError, match=r"'slow down'; it asks to be left alone for 86,400 s, and 60 s are"):
        await retriever(
            "retriever_websearch", query_list=["x"], websearch_backend="exa", websearch_backend_configs=configs
        )


async def test_a_key_does_not_go_along_to_another_address(retriever: StdioServer, web: WebServices) -> None:
    with WebServices() as other:
        web.refusals = [(307, {"location": f"{other.url}/search"}, {})]
        configs = {"exa": {"base_url": web.url, "api_key": "k"}}
        with pytest.raises(ToolError, match=rf"/search sends on to '{other.url}/search' \(307\)"):
            await retriever(
                "retriever_websearch", query_list=["x"], websearch_backend="exa", websearch_backend_configs=configs
            )
        assert other.asked == []


async def test_what_a_service_can_not_take_is_told(retriever: StdioServer, web: WebServices) -> None:
    query = "where does the keeper of the light that stands on the northern rock live, and since when?"
    result = await retriever.client.call_tool("retriever_websearch", {
        "query_list": [query], "top_k": 60, "websearch_backend": "zhipuai",
        "websearch_backend_configs": {"zhipuai": {"base_url": web.url, "api_key": "k"}},
    })  # fmt: skip
    assert web.asked[0]["body"] == {"search_engine": "search_std", "count": 50, "search_query": query[:70]}
    assert (result.meta or {})["ragwb"]["warnings"] == [
        "zhipuai gives at most 50 pages, not the 60 of retriever.top_k",
        f"zhipuai takes 70 characters: of {query[:30]!r}... ({len(query)}) the first were sent",
    ]


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


@contextmanager
def serving(folder: Path, said: list[str] | None = None, **settings: Any) -> Iterator[str]:
    """The address of a retriever that is served by its own command; ``said`` gets what it writes to stderr."""
    kept: list[str] = [] if said is None else said
    command = [sys.executable, "-m", "workbench.cli.main", "serve", str(parameters(folder, **settings)), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        line = next(line for line in process.stderr if "running on" in line)
        reading = threading.Thread(target=kept.extend, args=(process.stderr,), daemon=True)
        reading.start()
        yield line.split("running on ")[1].split()[0]
        process.terminate()
        reading.join(10)


def parameters(folder: Path, **settings: Any) -> Path:
    corpus, file = folder / "corpus.jsonl", folder / "rag_parameter.yaml"
    corpus.write_text('{"id": "m", "contents": "the salt mill"}\n{"id": "l", "contents": "the north light"}\n')
    file.write_text(yaml.safe_dump({"retriever": {"corpus_path": str(corpus), "backend": "wordllama", **settings}}))
    return file


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("served")) as url:
        yield url


async def test_a_retriever_with_an_endpoint_is_served(
    retriever: StdioServer, endpoint: FakeEndpoint, tmp_path: Path
) -> None:
    openai = {"base_url": endpoint.url, "model_name": "good"}
    with serving(tmp_path, backend="openai", backend_configs={"openai": openai}) as url:
        found = await retriever("retriever_deploy_search", retriever_url=url, query_list=["mill", "light"], top_k=1)
    assert found["ret_psg"] == [["the salt mill"], ["the north light"]]


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
            ({"query_list": ["x"], "top_k": True}, "top_k be a whole number"),
            ({"query_list": ["x"], "query_instruction": 5}, "query_instruction must be text"),
        ]:
            answer = await client.post("/search", json=body)
            assert answer.status_code == 400
            assert message in answer.json()["error"]
        assert (await client.get("/health")).json()["model"] == "wordllama"
        answer = await client.post("/search", content=b" " * (16 << 20) + b"{}")
        assert (answer.status_code, answer.json()["error"][:30]) == (400, "the request is longer than the")


async def test_another_name_for_this_machine_is_refused(served: str) -> None:
    import httpx2

    port = urlsplit(served).port
    async with httpx2.AsyncClient(base_url=served) as client:
        for host, status in {"elsewhere.example": 400, f"localhost:{port}": 200, f"[::1]:{port}": 200}.items():
            assert (await client.get("/health", headers={"host": host})).status_code == status


def test_a_request_that_breaks_off_is_no_traceback(tmp_path: Path) -> None:
    said: list[str] = []
    with serving(tmp_path, said=said) as url:
        address = urlsplit(url)
        for _ in range(3):
            with socket.create_connection((address.hostname, address.port)) as connection:
                connection.sendall(b"POST /search HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
        with urlopen(f"{url}/health") as answer:
            assert answer.status == 200
    assert not [line for line in said if "Traceback" in line or "ClientDisconnect" in line]


async def test_an_address_that_serves_no_retriever(retriever: StdioServer, web: WebServices) -> None:
    web.refusals = [(200, {}, {"ret_psg": []})]
    with pytest.raises(ToolError, match="/search did not give ret_psg for 1 queries"):
        await retriever("retriever_deploy_search", retriever_url=web.url, query_list=["x"])


def refused(file: Path) -> str:
    """What ``ragwb serve`` says before it ends."""
    command = [sys.executable, "-m", "workbench.cli.main", "serve", str(file), "--port", "0"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    return done.stderr


def test_parameters_that_are_no_retrievers(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text("a: 1\n")
    assert "no retriever parameters in it" in refused(tmp_path / "p.yaml")


def test_a_retriever_that_could_find_nothing_is_not_served(tmp_path: Path) -> None:
    index = tmp_path / "none.index"
    file = parameters(tmp_path, index_backend_configs={"faiss": {"index_path": str(index)}})
    assert "the retriever has no index yet" in refused(file)
    index.write_bytes(b"another")
    assert "none.index.json beside it, which says what it was made from, can't be read" in refused(file)
