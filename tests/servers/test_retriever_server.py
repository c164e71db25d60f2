"""The retriever server: corpora, BM25, embeddings, index files."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import embedders
import pytest
import retriever
import yaml
from fake_endpoint import FakeEndpoint
from fastmcp import Client
from fastmcp.exceptions import ToolError
from passages import CorpusError, read_corpus

from workbench.cases.keywords import KeywordIndex, tokenize

PASSAGES = ["salt mill of Marl", "keeper of the north light", "the last document is about ferries"]


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    retriever.retriever = retriever.Retriever()
    yield
    retriever.retriever = retriever.Retriever()


def write(path: Path, texts: Sequence[str]) -> str:
    path.write_text("".join(json.dumps({"id": n, "contents": t}) + "\n" for n, t in enumerate(texts)))
    return path.name


def init(project: Path, texts: Sequence[str] = PASSAGES, **options: Any) -> None:
    settings = {"backend": "bm25", "backend_configs": {}, "batch_size": 8, "model_name_or_path": "", **options}
    retriever.retriever_init(corpus_path=write(project / "corpus.jsonl", texts), **settings)


def bm25(*queries: str, top_k: int = 5) -> list[list[str]]:
    return retriever.bm25_search(list(queries), top_k)["ret_psg"]


def search(*queries: str, top_k: int = 5) -> list[list[str]]:
    return retriever.retriever_search(list(queries), top_k)["ret_psg"]


def test_a_term_in_half_of_the_passages_counts() -> None:
    index = KeywordIndex.of_texts(["red kiln fires clay", "blue kiln cools slowly", "lake ferry", "harbour ferry"])
    scores = index.scores("kiln")
    assert scores[0] == scores[1] > 0 == scores[2] == scores[3]
    assert index.search("kiln", 4) == [0, 1]


def test_chinese_is_found_without_blanks() -> None:
    texts = [
        "北灯塔由伊内斯看守，灯每晚八点亮起。",
        "盐坊建在马罗镇的河边。",
        "集市每年五月九日在码头开门。",
        "渡船清晨六点离开码头。",
    ]
    index = KeywordIndex.of_texts(texts)
    first = [index.search(q, 2)[0] for q in ("谁看守北灯塔", "马罗镇的盐坊在哪里", "Ferry 渡船 几点")]
    assert first == [0, 1, 3]
    assert tokenize("Ａ 渡船") == ["a", "渡", "船", "渡船"]


def test_bm25_search_works_right_after_the_index_and_without_it(project: Path) -> None:
    init(project)
    assert bm25("salt") == [[PASSAGES[0]]]
    init(project)
    retriever.bm25_index()
    assert bm25("the light", "zebra", top_k=2) == [[PASSAGES[1], PASSAGES[2]], []]


def test_nothing_is_padded_and_nothing_searched_for_no_query(project: Path) -> None:
    init(project, backend="wordllama")
    assert search() == bm25() == []
    assert search("", "There is no query.", top_k=2) == [[], []]
    assert bm25(" ", "There is no query.") == [[], []]
    [found] = search("document", top_k=10)
    assert sorted(found) == sorted(PASSAGES)


@pytest.mark.parametrize("call", [lambda: search("a"), lambda: bm25("a"), retriever.bm25_index])
def test_search_before_init_says_what_must_come_first(call: Any) -> None:
    with pytest.raises(ToolError, match=r"retriever\.retriever_init must come before"):
        call()


def test_embedding_search_needs_a_backend_that_embeds(project: Path) -> None:
    init(project)
    with pytest.raises(ToolError, match="bm25 does not"):
        search("a")


def test_top_k_must_be_positive(project: Path) -> None:
    init(project)
    with pytest.raises(ToolError, match="top_k must be 1 or more"):
        bm25("a", top_k=0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"contents": "a"}\n\n{"contents": \n', r"c\.jsonl:3: not JSON"),
        ('{"text": "a"}\n', r"c\.jsonl:1: a passage needs the key `contents`; found: text"),
        ('{"contents": 1}\n', r"c\.jsonl:1: `contents` must be text"),
        ("\n", "holds no passages"),
    ],
)
def test_a_bad_corpus_is_named_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "c.jsonl").write_text(text)
    with pytest.raises(CorpusError, match=message):
        read_corpus(tmp_path / "c.jsonl")


def test_a_bom_and_crlf_are_no_part_of_a_passage(tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_bytes('\ufeff{"contents": "a"}\r\n{"contents": "b"}\r\n'.encode())
    assert read_corpus(tmp_path / "c.jsonl").texts == ["a", "b"]


@pytest.mark.parametrize("index_backend", ["faiss", "numpy"])
def test_the_nearest_passage_comes_first(project: Path, index_backend: str) -> None:
    init(project, backend="wordllama", index_backend=index_backend)
    assert [found[0] for found in search("lighthouse keeper", "flour mill", top_k=1)] == PASSAGES[1::-1]


@pytest.mark.parametrize("index_backend", ["faiss", "numpy"])
def test_an_index_is_kept_and_read_again(project: Path, index_backend: str) -> None:
    options = {"backend": "wordllama", "index_backend": index_backend}
    options["index_backend_configs"] = {index_backend: {"index_path": "index/i.index"}}
    init(project, **options)
    with pytest.raises(ToolError, match="retriever_embed and retriever_index"):
        search("light")
    retriever.retriever_embed("index/e.npy")
    retriever.retriever_index("index/e.npy")
    found = search("light")
    init(project, **options)
    assert search("light") == found


def test_files_of_another_corpus_are_refused(project: Path) -> None:
    options: dict[str, Any] = {"index_backend_configs": {"faiss": {"index_path": "i.index"}}, "backend": "wordllama"}
    init(project, **options)
    retriever.retriever_embed("e.npy")
    retriever.retriever_index("e.npy")
    with pytest.raises(ToolError, match="made with another corpus"):
        init(project, ["other"], **options)
    (project / "i.index").unlink()
    init(project, ["other"], **options)
    for step in (retriever.retriever_embed, retriever.retriever_index):
        with pytest.raises(ToolError, match="overwrite: true"):
            step("e.npy")
    retriever.retriever_embed("e.npy", overwrite=True)
    retriever.retriever_index("e.npy")
    assert search("light") == [["other"]]


def test_a_bm25_index_is_kept_and_one_of_another_corpus_refused(project: Path) -> None:
    configs = {"bm25": {"save_path": "index/bm25"}}
    for _ in range(2):
        init(project, backend_configs=configs)
        retriever.bm25_index()
        assert bm25("salt") == [[PASSAGES[0]]]
    init(project, ["other salt"], backend_configs=configs)
    with pytest.raises(ToolError, match="another corpus"):
        retriever.bm25_index()
    retriever.bm25_index(overwrite=True)
    assert bm25("salt") == [["other salt"]]


def test_unknown_backends_are_named_with_the_known_ones(project: Path) -> None:
    with pytest.raises(ToolError, match="unknown retriever backend 'bm26'; known are wordllama"):
        init(project, backend="bm26")
    with pytest.raises(ToolError, match="unknown index_backend 'milvus'; known are faiss and numpy"):
        init(project, backend="wordllama", index_backend="milvus")


def test_sentence_transformers_says_how_to_get_it(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ToolError, match="pip install torch sentence-transformers"):
        init(project, backend="sentence_transformers")


def test_an_endpoint_embeds_in_any_order_and_is_checked(project: Path, endpoint: FakeEndpoint) -> None:
    configs = {"openai": {"base_url": endpoint.url, "model_name": "good"}}
    init(project, backend="openai", backend_configs=configs, batch_size=2)
    assert search("a mill", "a light", top_k=1) == [[PASSAGES[0]], [PASSAGES[1]]]
    configs["openai"]["model_name"] = "short"
    with pytest.raises(ToolError, match="1 vectors for 2 texts"):
        init(project, backend="openai", backend_configs=configs, batch_size=2)


def test_rows_have_length_one_or_zero() -> None:
    rows = embedders.unit_rows([[3.0, 4.0], [0.0, 0.0]])
    assert [[round(float(x), 4) for x in row] for row in rows] == [[0.6, 0.8], [0.0, 0.0]]


async def test_the_shipped_defaults_work(project: Path) -> None:
    root = Path(__file__).resolve().parents[2]
    defaults = yaml.safe_load((root / "servers/retriever/parameter.yaml").read_text())
    async with Client(retriever.app) as client:
        [tool] = [tool for tool in await client.list_tools() if tool.name == "retriever_init"]
        await client.call_tool("retriever_init", {name: defaults[name] for name in tool.input_schema["properties"]})
        result = await client.call_tool("retriever_search", {"query_list": ["Who is the keeper of the Gannet Light?"]})
    assert "The keeper of the Gannet Light is Ada Fenwick." in result.structured_content["ret_psg"][0]
