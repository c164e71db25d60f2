"""What a setting, a model's answer or a file must not be: refused with its name, before anything is made of it."""

from __future__ import annotations

import json
import zipfile
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import benchmark
import corpus
import custom
import evaluation
import memory
import pytest
import pytest_asyncio
import reranker as reranking
import retriever as retrieving
from fake_endpoint import FakeEndpoint
from fastmcp import Client, FastMCP
from fastmcp.exceptions import ToolError

TEXTS = ["salt mill of Marl", "keeper of the north light", "the last document is about ferries"]


class Caller:
    """A server's tools, in this process; ``warnings`` are those of the last call."""

    def __init__(self, client: Client[Any]) -> None:
        self.client = client
        self.warnings: list[str] = []

    async def __call__(self, tool: str, **arguments: Any) -> Any:
        result = await self.client.call_tool(tool, arguments)
        self.warnings = ((result.meta or {}).get("ragwb") or {}).get("warnings", [])
        return result.structured_content


async def calling(app: FastMCP[Any]) -> AsyncIterator[Caller]:
    async with Client(app) as client:
        yield Caller(client)


@pytest_asyncio.fixture
async def retriever(project: Path) -> AsyncIterator[Caller]:
    async for caller in calling(retrieving.app):
        yield caller


def write(path: Path, records: Sequence[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return str(path)


async def init(server: Caller, folder: Path, records: Sequence[dict[str, Any]] | None = None, **options: Any) -> None:
    given = [{"id": str(n), "contents": text} for n, text in enumerate(TEXTS)] if records is None else records
    settings = {"backend": "bm25", "backend_configs": {}, "batch_size": 8, "model_name_or_path": "", **options}
    await server("retriever_init", corpus_path=write(folder / "corpus.jsonl", given), **settings)


def openai(endpoint: FakeEndpoint, model: str) -> dict[str, Any]:
    configs = {"openai": {"base_url": endpoint.url, "model_name": model}}
    return {"backend": "openai", "backend_configs": configs}


@pytest.mark.parametrize("size", [0, -1])
async def test_a_batch_of_nothing_makes_no_index(
    retriever: Caller, project: Path, endpoint: FakeEndpoint, size: int
) -> None:
    with pytest.raises(ToolError, match=rf"retriever\.batch_size must be a whole number from 1 on; found {size}"):
        await init(retriever, project, backend="wordllama", batch_size=size)
    async for reranker in calling(reranking.app):
        with pytest.raises(ToolError, match=rf"reranker\.batch_size .* found {size}"):
            await reranker(
                "reranker_init", model_name_or_path="", backend_configs={}, batch_size=size, backend="wordllama"
            )


@pytest.mark.parametrize("vector", ["[]", "null", '"AAAA"', '["a"]', "[true]"])
async def test_what_is_no_vector_is_quoted(
    retriever: Caller, project: Path, endpoint: FakeEndpoint, vector: str
) -> None:
    with pytest.raises(ToolError, match=r"/v1/embeddings gave no list of numbers as a vector, but "):
        await init(retriever, project, **openai(endpoint, f"vector {vector}"))


async def test_vectors_of_zeros_are_counted(retriever: Caller, project: Path, endpoint: FakeEndpoint) -> None:
    told = "gave a vector of zeros for 1 of 3 passages"
    await init(retriever, project, **openai(endpoint, "zeros"))
    assert [warning for warning in retriever.warnings if told in warning]
    await retriever("retriever_embed", embedding_path="e.npy")
    assert [warning for warning in retriever.warnings if told in warning]


@pytest.mark.parametrize("score", ["null", "NaN", '"0.5"'])
async def test_what_is_no_score_is_quoted(project: Path, endpoint: FakeEndpoint, score: str) -> None:
    configs = {"openai": {"base_url": endpoint.url, "model_name": f"score {score}"}}
    async for reranker in calling(reranking.app):
        await reranker("reranker_init", model_name_or_path="", backend_configs=configs, batch_size=4, backend="openai")
        with pytest.raises(ToolError, match=r"/v1/rerank gave a score that is no number: .*relevance_score"):
            await reranker("reranker_rerank", query_list=["Who mills?"], passages_list=[TEXTS])


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ('{"year": {"in": 1990}}', "year.in must be a list"),
        ('{"year": {"gt": true}}', "year.gt must be a number or text"),
        ('{"year": NaN}', "year must be a text, a number"),
        ('{"year": 1e999}', "year must be a text, a number"),
        ('{"year": {"near": 1990}}', "unknown operator 'near'"),
        ('{"year": ' + "[" * 100_000 + "}", "lies too deep|JSON|Expecting"),
    ],
)
async def test_a_models_filter_that_a_search_refuses_is_none(project: Path, answer: str, why: str) -> None:
    async for server in calling(custom.app):
        found = await server("read_filters", ans_ls=[answer, '{"year": 1990, "sky": 1}'], filter_keys=["year"])
        assert found == {"filter_ls": [{}, {"year": 1990}]}
        [warning] = server.warnings
        assert any(one in warning for one in why.split("|"))
        assert "[1] left out of its filter, not among filter_keys: sky" in warning


async def test_a_search_refuses_what_is_no_number(retriever: Caller, project: Path) -> None:
    await init(retriever, project)
    with pytest.raises(ToolError, match=r"retriever\.search_filter\.year must be .* found nan"):
        await retrieving.hybrid_search(["a"], searches=["bm25"], search_filter={"year": float("nan")})


async def test_an_id_that_leads_to_two_passages_is_refused(retriever: Caller, project: Path) -> None:
    parents = write(project / "parents.jsonl", [{"id": "a", "contents": "A"}, {"id": "a", "contents": "B"}])
    await init(retriever, project, [{"id": "x", "parent": "a", "contents": "one"}])
    with pytest.raises(ToolError, match=r"parents\.jsonl: the id 'a' stands there twice"):
        await retriever("parent_passages", ret_ids=[["x"]], parents_path=parents)
    parents = write(project / "whole.jsonl", [{"id": "a", "contents": "A"}, {"id": "b", "contents": "B"}])
    await init(retriever, project, [{"id": "x", "parent": p, "contents": "one"} for p in ("a", "b")])
    with pytest.raises(ToolError, match=r"corpus\.jsonl: the id 'x' stands there twice, with two parents, 'a' and 'b'"):
        await retriever("parent_passages", ret_ids=[["x"]], parents_path=parents)


async def test_a_ranking_votes_once_for_a_passage(retriever: Caller, project: Path) -> None:
    assert await retriever("fuse_rankings", ret_psg_ls=[[["b", "a", "a"]]]) == {"ret_psg": [["b", "a"]]}


@pytest.mark.parametrize("path", ["", ".", "..", "file/scores.json", "a\0b"])
def test_scores_go_to_a_file_of_the_project(project: Path, path: str) -> None:
    (project / "file").touch()
    before = sorted(project.parent.iterdir())
    with pytest.raises(ToolError, match=r"evaluation\.save_path"):
        evaluation.evaluate(["a"], ["a"], ["em"], path)
    assert sorted(project.parent.iterdir()) == before


async def test_damaged_vectors_are_named_with_the_way_out(retriever: Caller, project: Path) -> None:
    await init(retriever, project, backend="wordllama")
    await retriever("retriever_embed", embedding_path="e.npy")
    whole = (project / "e.npy").read_bytes()
    for damaged in (whole[:200], whole[:20], b"", b"text"):
        (project / "e.npy").write_bytes(damaged)
        for tool in ("retriever_embed", "retriever_index"):
            with pytest.raises(
                ToolError, match=r"e\.npy can't be read as vectors .*Run retriever_embed with overwrite"
            ):
                await retriever(tool, embedding_path="e.npy")
    await retriever("retriever_embed", embedding_path="e.npy", overwrite=True)
    await retriever("retriever_index", embedding_path="e.npy")


HALF = r'{"contents": "a \ud83d b", "question": "a \ud83d b", "golds": []}'
DEEP = '{"contents": "a", "question": "a", "golds": ' + "[" * 100_000 + "]" * 100_000 + "}"


@pytest.mark.parametrize(("line", "why"), [(HALF, "half a character"), (DEEP, "too deep")])
async def test_a_line_that_can_not_be_kept_is_named(retriever: Caller, project: Path, line: str, why: str) -> None:
    file = project / "c.jsonl"
    file.write_text('{"contents": "b", "question": "b", "golds": []}\n' + line + "\n", encoding="utf-8")
    settings = {"model_name_or_path": "", "backend": "bm25", "batch_size": 1, "backend_configs": {}}
    with pytest.raises(ToolError, match=rf"c\.jsonl:2: .*{why}"):
        await retriever("retriever_init", corpus_path=str(file), **settings)
    with pytest.raises(ToolError, match=rf"c\.jsonl:2: .*{why}"):
        benchmark.get_data({"path": "c.jsonl", "key_map": {"q_ls": "question"}})


def test_a_question_that_is_null_is_missing(project: Path) -> None:
    write(project / "q.jsonl", [{"question": None, "golds": ["x"]}, {"question": "b", "golds": None}])
    asked = {"path": "q.jsonl", "key_map": {"q_ls": "question", "gt_ls": "golds"}}
    with pytest.raises(ToolError, match=r"line 1 has null as `question`.*missing: skip"):
        benchmark.get_data(asked)
    assert benchmark.get_data({**asked, "missing": "skip"}).structured_content == {"q_ls": ["b"], "gt_ls": [[]]}


def test_a_word_does_not_shuffle(project: Path) -> None:
    write(project / "q.jsonl", [{"question": "a"}])
    with pytest.raises(ToolError, match=r"benchmark\.shuffle must be true or false; found 'no'"):
        benchmark.get_data({"path": "q.jsonl", "key_map": {"q_ls": "question"}, "shuffle": "no"})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"candidates": 0}, "retriever.candidates must be 1 or more; found 0"),
        ({"fusion_weights": {"bm25": -1.0}}, "retriever.fusion_weights.bm25 must be a number from 0 on; found -1.0"),
        ({"fusion_weights": {"bm25": float("nan")}}, "retriever.fusion_weights.bm25 .* found nan"),
        ({"rrf_k": float("nan")}, "retriever.rrf_k must be above 0; found nan"),
    ],
)
async def test_a_hybrid_search_that_can_not_be(
    retriever: Caller, project: Path, options: dict[str, Any], message: str
) -> None:
    await init(retriever, project)
    with pytest.raises(ToolError, match=message):
        await retrieving.hybrid_search(["mill"], searches=["bm25"], **options)


async def test_the_number_of_parents_has_its_own_name(retriever: Caller, project: Path) -> None:
    with pytest.raises(ToolError, match=r"retriever\.parent_top_k must be 1 or more"):
        await retriever("parent_passages", ret_ids=[["x"]], parents_path="p.jsonl", parent_top_k=0)


async def test_facts_and_folders_of_a_memory(project: Path) -> None:
    async for server in calling(memory.app):
        with pytest.raises(ToolError, match=r"memory\.hops must be 0 or more; found -1"):
            await server("search_facts", user_id="ann", q_ls=["a"], hops=-1)
        fact = {"subject": "a", "relation": "is", "object": "b", "valid_from": "2024-05"}
        with pytest.raises(ToolError, match=r"fact_ls\[0\]: valid_to 2023 is before valid_from 2024-05"):
            await server("add_facts", user_id="ann", fact_ls=[{**fact, "valid_to": "2023"}])
        await server("add_facts", user_id="ann", fact_ls=[{**fact, "valid_to": "2024"}])
        (project / "file").touch()
        with pytest.raises(ToolError, match=r"memory\.memory_folder 'file'"):
            await server("get_buffer", user_id="ann", memory_folder="file")


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"backend": "wordllama", "backend_configs": {"wordllama": 5}}, "backend_configs.wordllama"),
        ({"backend_configs": {"bm25": 7}}, "backend_configs.bm25"),
        (
            {"backend": "wordllama", "index_backend": "qdrant", "index_backend_configs": {"qdrant": "x"}},
            "index_backend_configs.qdrant",
        ),
        ({"backend": "wordllama", "index_backend_configs": {"faiss": 3}}, "index_backend_configs.faiss"),
    ],
)
async def test_a_backends_settings_are_a_map(
    retriever: Caller, project: Path, options: dict[str, Any], name: str
) -> None:
    with pytest.raises(ToolError, match=rf"retriever\.{name} must be a map of settings"):
        await init(retriever, project, **options)


@pytest.mark.parametrize("part", [5, {"min_sentences_per_chunk": "a"}, {"chunk_overlap": []}])
async def test_a_chunkers_settings(project: Path, part: Any) -> None:
    write(project / "c.jsonl", [{"id": "a", "contents": "A text."}])
    async for server in calling(corpus.app):
        with pytest.raises(ToolError, match=r"corpus\.chunk_backend_configs\.sentence"):
            await server(
                "chunk_documents", raw_chunk_path="c.jsonl", chunk_backend="sentence",
                chunk_backend_configs={"sentence": part},
            )  # fmt: skip


async def test_an_index_that_is_not_there_is_named(retriever: Caller, project: Path) -> None:
    configs = {"faiss": {"index_path": "no.index"}}
    await init(retriever, project, backend="wordllama", index_backend_configs=configs)
    with pytest.raises(ToolError, match=r"retriever_index must come before this step, and make .*no\.index"):
        await retriever("retriever_search", query_list=["mill"])


async def test_a_key_that_no_passage_has_is_told(retriever: Caller, project: Path) -> None:
    await init(retriever, project, [{"id": "a", "contents": "the mill", "year": 1990}])
    for wanted, warnings in [
        ({"yeer": 1990}, ["no passage has the key `yeer`", 'no passage meets the filter: [0] {"yeer": 1990}']),
        ({"year": 1991}, ['no passage meets the filter: [0] {"year": 1991}']),
        ({"year": 1990}, []),
    ]:
        await retriever("hybrid_search", query_list=["mill"], searches=["bm25"], search_filter=wanted)
        assert retriever.warnings == warnings


async def test_documents_that_are_not_what_they_seem(project: Path) -> None:
    docs = project / "docs"
    docs.mkdir()
    (docs / "a.txt").write_bytes(b"The salt mill\x00 of Marl.\n")
    (docs / "old.doc").write_bytes(b"old")
    (docs / "table.csv").write_bytes(b"a,b")
    with zipfile.ZipFile(docs / "bomb.docx", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b" " * (101 << 20))
    built = {"parse_file_path": "docs", "text_corpus_save_path": "c.jsonl"}
    async for server in calling(corpus.app):
        account = (await server("build_text_corpus", **built))["documents"]
        assert (account["seen"], account["used"], account["skipped"]) == (3, 1, ["table.csv"])
        assert account["left_out"][0] == "old.doc: .doc is not read; save it as .docx"
        assert "104,857,600 are the most that is read" in account["left_out"][1]
        assert account["warnings"] == ["a.txt: read as utf-8, NUL bytes left out"]
        assert json.loads((project / "c.jsonl").read_text())["contents"] == "The salt mill of Marl."
        with pytest.raises(ToolError, match=r"old\.doc: \.doc is not read"):
            await server("build_text_corpus", **built, on_bad_file="stop")
