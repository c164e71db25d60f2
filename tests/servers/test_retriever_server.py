"""The retriever server over stdio: corpora, BM25, embeddings, index files, hybrid search."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import yaml
from fake_endpoint import FakeEndpoint
from fastmcp.exceptions import ToolError
from stdio import ROOT, StdioServer, running

PASSAGES = ["salt mill of Marl", "keeper of the north light", "the last document is about ferries"]
CHINESE = [
    "北灯塔由伊内斯看守，灯每晚八点亮起。",
    "盐坊建在马罗镇的河边。",
    "集市每年五月九日在码头开门。",
    "渡船清晨六点离开码头。",
]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def retriever(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[StdioServer]:
    async with running("retriever", tmp_path_factory.mktemp("retriever")) as server:
        yield server


def write(path: Path, records: Sequence[str | dict[str, Any]]) -> str:
    lines = (
        record if isinstance(record, dict) else {"id": str(n), "contents": record} for n, record in enumerate(records)
    )
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    return str(path)


async def init(
    server: StdioServer, folder: Path, records: Sequence[str | dict[str, Any]] = PASSAGES, **options: Any
) -> None:
    settings = {"backend": "bm25", "backend_configs": {}, "batch_size": 8, "model_name_or_path": "", **options}
    await server("retriever_init", corpus_path=write(folder / "corpus.jsonl", records), **settings)


async def bm25(server: StdioServer, *queries: str, top_k: int = 5) -> list[list[str]]:
    found: list[list[str]] = (await server("bm25_search", query_list=list(queries), top_k=top_k))["ret_psg"]
    return found


async def search(server: StdioServer, *queries: str, top_k: int = 5, **options: Any) -> list[list[str]]:
    found: list[list[str]] = (await server("retriever_search", query_list=list(queries), top_k=top_k, **options))[
        "ret_psg"
    ]
    return found


async def test_before_init_each_step_says_what_must_come_first(tmp_path: Path) -> None:
    async with running("retriever", tmp_path) as server:
        for tool, arguments in {
            "bm25_search": {"query_list": ["a"]},
            "retriever_search": {"query_list": ["a"]},
            "bm25_index": {},
            "retriever_embed": {},
            "hybrid_search": {"query_list": ["a"]},
        }.items():
            with pytest.raises(ToolError, match=r"retriever\.retriever_init must come before"):
                await server(tool, **arguments)


async def test_scores_and_ids_stand_with_their_passages(retriever: StdioServer, tmp_path: Path) -> None:
    texts = {"a": "goat pen", "b": "spring fair", "c": "salt mill salt"}
    records = [{"id": name, "contents": text} for name, text in texts.items()]
    await init(retriever, tmp_path, records)
    found = await retriever("bm25_search", query_list=["salt goat"], top_k=3)
    assert (found["ret_ids"], found["ret_psg"]) == ([["c", "a"]], [["salt mill salt", "goat pen"]])
    [scores] = found["ret_scores"]
    assert scores == sorted(scores, reverse=True)
    assert scores[-1] > 0


async def test_equal_passages_of_a_word_in_half_of_them(retriever: StdioServer, tmp_path: Path) -> None:
    texts = ["red kiln fires clay", "blue kiln cools slowly", "lake ferry", "harbour ferry"]
    await init(retriever, tmp_path, texts)
    assert await bm25(retriever, "kiln", top_k=4) == [texts[:2]]


@pytest.mark.parametrize("tokenizer", ["auto", "words", "jieba"])
async def test_chinese_is_found_without_blanks(retriever: StdioServer, tmp_path: Path, tokenizer: str) -> None:
    configs = {"bm25": {"lang": "zh", "tokenizer": tokenizer}}
    await init(retriever, tmp_path, CHINESE, backend_configs=configs)
    found = await bm25(retriever, "谁看守北灯塔", "马罗镇的盐坊在哪里", "Ferry 渡船 几点", top_k=2)
    assert [hits[0] for hits in found] == [CHINESE[0], CHINESE[1], CHINESE[3]]


async def test_stopwords_are_not_counted(retriever: StdioServer, tmp_path: Path) -> None:
    await init(retriever, tmp_path, backend_configs={"bm25": {"stopwords": ["the"]}})
    assert await bm25(retriever, "the mill") == [[PASSAGES[0]]]


async def test_nothing_is_padded_and_nothing_searched_for_no_query(retriever: StdioServer, tmp_path: Path) -> None:
    await init(retriever, tmp_path, backend="wordllama")
    for tool in ("retriever_search", "bm25_search", "hybrid_search"):
        assert (await retriever(tool, query_list=[]))["ret_psg"] == []
        assert (await retriever(tool, query_list=["", "There is no query.", " "]))["ret_psg"] == [[], [], []]
        [found] = (await retriever(tool, query_list=["the document"], top_k=10))["ret_psg"]
        assert len(found) == len(set(found)) <= 3
    assert sorted((await search(retriever, "document", top_k=10))[0]) == sorted(PASSAGES)
    batch = await retriever("retriever_batch_search", batch_query_list=[["mill", "light"], [], ["ferry"]], top_k=1)
    assert batch["ret_psg_ls"] == [[[PASSAGES[0]], [PASSAGES[1]]], [], [[PASSAGES[2]]]]
    assert batch["ret_ids_ls"] == [[["0"], ["1"]], [], [["2"]]]


async def test_what_can_not_be(retriever: StdioServer, tmp_path: Path) -> None:
    await init(retriever, tmp_path)
    with pytest.raises(ToolError, match="top_k must be 1 or more; found 0"):
        await bm25(retriever, "a", top_k=0)
    with pytest.raises(ToolError, match="bm25, which does not embed"):
        await search(retriever, "a")
    with pytest.raises(ToolError, match=r"unknown retriever.backend 'bm26'; known are wordllama, .*did you mean bm25"):
        await init(retriever, tmp_path, backend="bm26")
    with pytest.raises(ToolError, match=r"unknown retriever.index_backend 'fais'.*did you mean faiss"):
        await init(retriever, tmp_path, backend="wordllama", index_backend="fais")
    with pytest.raises(ToolError, match="tokenizer 'gpt'; use auto, words or jieba"):
        await init(retriever, tmp_path, backend_configs={"bm25": {"tokenizer": "gpt"}})
    await init(retriever, tmp_path, backend="wordllama", collection_name="wiki")
    assert await search(retriever, "mill", top_k=1) == await search(retriever, "mill", top_k=1, collection_name="wiki")
    with pytest.raises(ToolError, match="'pages' can't be used beside 'wiki': faiss has no collections"):
        await search(retriever, "a", collection_name="pages")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"contents": "a"}\n\n{"contents": \n', r"c\.jsonl:3: not JSON"),
        (b'{"text": "a"}\n', r"c\.jsonl:1: a passage needs the key `contents`; found: text"),
        (b'\n{"contents": 1}\n', r"c\.jsonl:2: `contents` must be text"),
        (b'{"contents": "\xff\xfe"}\n', r"c\.jsonl:1: not UTF-8"),
        (b"\n", "holds no passages"),
        (None, "there is no such corpus"),
    ],
)
async def test_a_bad_corpus_is_named_with_its_line(
    retriever: StdioServer, tmp_path: Path, content: bytes | None, message: str
) -> None:
    if content is not None:
        (tmp_path / "c.jsonl").write_bytes(content)
    with pytest.raises(ToolError, match=message):
        await retriever(
            "retriever_init", corpus_path=str(tmp_path / "c.jsonl"), backend="bm25",
            backend_configs={}, batch_size=8, model_name_or_path="",
        )  # fmt: skip


async def test_a_bom_crlf_and_blank_lines_are_no_part_of_a_passage(retriever: StdioServer, tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_bytes('\ufeff{"contents": "a mill"}\r\n \r\n{"contents": "a ferry"}'.encode())
    options: dict[str, Any] = {"backend": "bm25", "backend_configs": {}, "batch_size": 1, "model_name_or_path": ""}
    await retriever("retriever_init", corpus_path=str(tmp_path / "c.jsonl"), **options)
    found = await retriever("bm25_search", query_list=["ferry", "mill"])
    assert (found["ret_psg"], found["ret_ids"]) == ([["a ferry"], ["a mill"]], [["1"], ["0"]])


async def test_passages_that_repeat_are_told_and_each_found_once(retriever: StdioServer, tmp_path: Path) -> None:
    await init(retriever, tmp_path, ["a mill", "a mill", "a ferry"])
    assert f"{tmp_path}/corpus.jsonl: 1 of 3 passages repeat another" in retriever.said()
    assert (await retriever("bm25_search", query_list=["mill"]))["ret_ids"] == [["0", "1"]]


@pytest.mark.parametrize("index_backend", ["faiss", "numpy"])
async def test_an_index_is_kept_and_read_again(retriever: StdioServer, tmp_path: Path, index_backend: str) -> None:
    options: dict[str, Any] = {"backend": "wordllama", "index_backend": index_backend}
    await init(retriever, tmp_path, **options)
    fresh = await search(retriever, "lighthouse keeper", "flour mill")
    assert [hits[0] for hits in fresh] == PASSAGES[1::-1]
    options["index_backend_configs"] = {index_backend: {"index_path": str(tmp_path / "index/i.index")}}
    await init(retriever, tmp_path, **options)
    with pytest.raises(ToolError, match=r"no index yet: retriever\.retriever_embed and retriever\.retriever_index"):
        await search(retriever, "light")
    assert await retriever("retriever_embed", embedding_path=str(tmp_path / "e.npy")) == {
        "done": f"{tmp_path}/e.npy: 3 vectors of 256 numbers"
    }
    assert retriever.progress[-1] == (3, 3, "3 of 3 passages embedded")
    await retriever("retriever_index", embedding_path=str(tmp_path / "e.npy"))
    assert await search(retriever, "lighthouse keeper", "flour mill") == fresh
    await init(retriever, tmp_path, **options)
    assert await search(retriever, "lighthouse keeper", "flour mill") == fresh
    assert list(tmp_path.rglob("*.part")) == []


async def test_files_of_another_corpus_are_refused_and_made_anew(retriever: StdioServer, tmp_path: Path) -> None:
    index, vectors = str(tmp_path / "i.index"), str(tmp_path / "e.npy")
    options = {"index_backend_configs": {"faiss": {"index_path": index}}, "backend": "wordllama"}
    await init(retriever, tmp_path, **options)
    await retriever("retriever_embed", embedding_path=vectors)
    await retriever("retriever_index", embedding_path=vectors)
    await init(retriever, tmp_path, ["other"], **options)
    for tool, arguments in {
        "retriever_search": {"query_list": ["light"]},
        "retriever_embed": {"embedding_path": vectors},
        "retriever_index": {"embedding_path": vectors},
    }.items():
        with pytest.raises(ToolError, match=r"was made with another corpus .*overwrite: true"):
            await retriever(tool, **arguments)
    await retriever("retriever_embed", embedding_path=vectors, overwrite=True)
    await retriever("retriever_index", embedding_path=vectors, overwrite=True)
    assert await search(retriever, "light") == [["other"]]


async def test_another_models_index_is_refused_with_both_numbers(
    retriever: StdioServer, tmp_path: Path, endpoint: FakeEndpoint
) -> None:
    import faiss
    import numpy as np

    foreign = faiss.IndexFlatIP(6)
    foreign.add(np.eye(6, dtype="float32")[:3])
    faiss.write_index(foreign, str(tmp_path / "six.index"))
    await init(
        retriever, tmp_path, backend="openai",
        backend_configs={"openai": {"base_url": endpoint.url, "model_name": "good"}},
        index_backend_configs={"faiss": {"index_path": str(tmp_path / "six.index")}},
    )  # fmt: skip
    with pytest.raises(ToolError, match=r"vectors of 6 numbers, the model openai:.*good gives 3"):
        await search(retriever, "light")
    assert "vectors of 6 numbers" in retriever.said()


@pytest.mark.parametrize("ranker", ["rank_bm25", "bm25s"])
async def test_a_bm25_index_is_kept_and_one_of_another_corpus_refused(
    retriever: StdioServer, tmp_path: Path, ranker: str
) -> None:
    folder = tmp_path / "index" / "bm25"
    configs = {"bm25": {"save_path": str(folder), "ranker": ranker}}
    for _ in range(2):
        await init(retriever, tmp_path, backend_configs=configs)
        await retriever("bm25_index")
        assert await bm25(retriever, "salt") == [[PASSAGES[0]]]
    await init(retriever, tmp_path, ["other salt"], backend_configs=configs)
    with pytest.raises(ToolError, match="was made with another corpus"):
        await retriever("bm25_index")
    with pytest.raises(ToolError, match="was made with another corpus"):
        await bm25(retriever, "salt")
    await retriever("bm25_index", overwrite=True)
    assert await bm25(retriever, "salt") == [["other salt"]]
    configs["bm25"]["stopwords"] = ["salt"]
    await init(retriever, tmp_path, ["other salt"], backend_configs=configs)
    with pytest.raises(ToolError, match=r"another tokenizer .words, now words without salt"):
        await bm25(retriever, "salt")
    assert not any(file.suffix in (".pkl", ".pickle") for file in tmp_path.rglob("*"))


async def test_a_folder_with_other_things_is_not_an_index_folder(retriever: StdioServer, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "mine.txt").write_text("keep me")
    await init(retriever, tmp_path, backend_configs={"bm25": {"save_path": str(tmp_path / "notes")}})
    with pytest.raises(ToolError, match=r"holds other files \(mine\.txt\); name a folder of its own"):
        await retriever("bm25_index", overwrite=True)
    assert (tmp_path / "notes" / "mine.txt").read_text() == "keep me"


async def test_an_index_of_an_earlier_layout_is_refused(retriever: StdioServer, tmp_path: Path) -> None:
    folder = tmp_path / "bm25"
    configs = {"bm25": {"save_path": str(folder)}}
    await init(retriever, tmp_path, backend_configs=configs)
    await retriever("bm25_index")
    origin = json.loads((tmp_path / "bm25.json").read_text())
    origin["settings"] = {**origin["settings"], "layout": 1, "library": origin["settings"].pop("ranker")}
    (tmp_path / "bm25.json").write_text(json.dumps(origin))
    await init(retriever, tmp_path, backend_configs=configs)
    with pytest.raises(ToolError, match=r"another layout \(1, now 2\).*overwrite: true"):
        await bm25(retriever, "salt")


async def test_a_file_of_the_users_is_not_taken_for_an_origin(retriever: StdioServer, tmp_path: Path) -> None:
    for name in ("wiki.json", "e.npy.json", "i.index.json"):
        (tmp_path / name).write_text('{"my": "own"}')
    options: dict[str, Any] = {
        "backend": "wordllama",
        "backend_configs": {"bm25": {"save_path": str(tmp_path / "wiki")}},
        "index_backend_configs": {"faiss": {"index_path": str(tmp_path / "i.index")}},
    }
    await init(retriever, tmp_path, **options)
    await retriever("retriever_embed", embedding_path=str(tmp_path / "fine.npy"))
    for tool, arguments in [
        ("bm25_index", {"overwrite": True}),
        ("retriever_embed", {"embedding_path": str(tmp_path / "e.npy")}),
        ("retriever_index", {"embedding_path": str(tmp_path / "fine.npy")}),
    ]:
        with pytest.raises(ToolError, match=r"\.json is there, and it was not written here"):
            await retriever(tool, **arguments)
    for name in ("wiki.json", "e.npy.json", "i.index.json"):
        assert (tmp_path / name).read_text() == '{"my": "own"}'


async def test_settings_that_nobody_reads_are_told(retriever: StdioServer, tmp_path: Path) -> None:
    result = await retriever.client.call_tool("retriever_init", {
        "corpus_path": write(tmp_path / "corpus.jsonl", PASSAGES), "backend": "wordllama", "batch_size": 8,
        "model_name_or_path": "", "backend_configs": {"wordllama": {"device": "cuda"}},
        "index_backend_configs": {"faiss": {"index_path": "", "index_use_gpu": True}},
    })  # fmt: skip
    assert (result.meta or {})["ragwb"]["warnings"] == [
        "retriever.backend_configs.wordllama: device is not read here; it reads none",
        "retriever.index_backend_configs.faiss: index_use_gpu is not read here; it reads index_path",
    ]


async def test_null_and_odd_numbers_in_an_endpoints_configs(
    retriever: StdioServer, tmp_path: Path, endpoint: FakeEndpoint
) -> None:
    openai: dict[str, Any] = {"base_url": endpoint.url, "model_name": "good", "retries": None, "timeout": None}
    await init(retriever, tmp_path, backend="openai", backend_configs={"openai": openai})
    for value in ("many", -1):
        openai["concurrency"] = value
        with pytest.raises(ToolError, match=f"`concurrency` must be a number.*{value}"):
            await init(retriever, tmp_path, backend="openai", backend_configs={"openai": openai})


async def test_hybrid_search_fuses_filters_and_spreads(retriever: StdioServer, tmp_path: Path) -> None:
    records = [
        {"id": "a", "contents": "the salt mill of Marl", "year": 1900, "tags": ["mill"]},
        {"id": "b", "contents": "the salt mill of Marl grinds salt", "year": 1950, "tags": ["mill", "salt"]},
        {"id": "c", "contents": "a keeper of lights", "year": 2000, "tags": []},
    ]
    await init(retriever, tmp_path, records, backend="wordllama")

    async def ids(query: str = "salt mill", **options: Any) -> list[str]:
        found: list[str] = (await retriever("hybrid_search", query_list=[query], top_k=2, **options))["ret_ids"][0]
        return found

    assert set(await ids()) == {"a", "b"}
    for searches in (["bm25"], ["dense"], ["bm25", "dense"]):
        for fusion in ("rrf", "weighted"):
            assert await ids(searches=searches, fusion=fusion, search_filter={"year": {"lt": 1950}}) == ["a"]
    assert await ids(search_filter={"tags": "salt"}) == ["b"]
    assert await ids(search_filter={"tags": ["salt", "none"], "year": {"gte": 1950}}) == ["b"]
    assert await ids(search_filter={"year": {"in": [1]}}) == []
    assert (await ids(mmr_lambda=0.1))[1] == "c"
    for options, message in [
        ({"searches": ["words"]}, "know bm25 and dense"),
        ({"fusion": "sum"}, "known are rrf, weighted"),
        ({"mmr_lambda": 2}, "between 0"),
        ({"search_filter": {"year": {"above": 3}}}, "unknown operator 'above'"),
        ({"search_filter": {"year": {"in": 3}}}, r"year.in must be a list of texts, numbers, true or false; found 3"),
        ({"search_filter": {"year": [[1]]}}, r"search_filter.year must be a list of texts"),
        ({"search_filter": {"year": {"eq": [1]}}}, r"year.eq must be a text, a number, true or false; found \[1\]"),
        ({"search_filter": {"year": None}}, "search_filter.year must be a text, a number"),
        ({"search_filter": {"year": {"gt": True}}}, "year.gt must be a number or text; found True"),
    ]:
        with pytest.raises(ToolError, match=message):
            await ids(**options)


async def test_an_endpoint_embeds_in_any_order_and_is_checked(
    retriever: StdioServer, tmp_path: Path, endpoint: FakeEndpoint
) -> None:
    openai: dict[str, Any] = {"base_url": endpoint.url, "model_name": "bge-m3:latest"}
    options = {"backend": "openai", "backend_configs": {"openai": openai}, "batch_size": 2}
    await init(retriever, tmp_path, **options)
    assert await search(retriever, "a mill", "a light", top_k=1) == [[PASSAGES[0]], [PASSAGES[1]]]
    assert endpoint.bodies[0]["model"] == "bge-m3:latest"
    for model, message in [
        ("short", r"asked http.* for \d vectors, got \d; nothing is kept"),
        ("dict", r"answered without `data`: .*embeddings"),
        ("nan", "no finite numbers for 2 texts"),
        ("locked", r"answered 401: 'Wrong key.'; set the environment variable RETRIEVER_API_KEY"),
    ]:
        openai["model_name"] = model
        with pytest.raises(ToolError, match=message):
            await init(retriever, tmp_path, **options)


async def test_infinity_takes_the_models_name_from_its_parameter(
    retriever: StdioServer, tmp_path: Path, endpoint: FakeEndpoint
) -> None:
    configs = {"infinity": {"base_url": endpoint.url}}
    await init(retriever, tmp_path, backend="infinity", backend_configs=configs, model_name_or_path="BAAI/bge")
    assert await search(retriever, "a mill", top_k=1) == [[PASSAGES[0]]]
    assert {body["model"] for body in endpoint.bodies} == {"BAAI/bge"}


def write_images(folder: Path, *words: str) -> list[dict[str, Any]]:
    """Records as build_image_corpus writes them; a picture is a word here."""
    (folder / "image").mkdir(exist_ok=True)
    for n, word in enumerate(words):
        (folder / f"image/page_{n}.png").write_text(word)
    return [{"id": str(n), "image_id": f"page_{n}", "image_path": f"image/page_{n}.png"} for n in range(len(words))]


async def test_images_are_searched_by_texts(retriever: StdioServer, tmp_path: Path, endpoint: FakeEndpoint) -> None:
    records = write_images(tmp_path, *["ferry"] * 8, "mill", "light")
    pages = [str(tmp_path / f"image/page_{n}.png") for n in range(10)]
    options: dict[str, Any] = {
        "backend": "infinity", "model_name_or_path": "clip", "is_multimodal": True,
        "backend_configs": {"infinity": {"base_url": endpoint.url}},
        "index_backend_configs": {"faiss": {"index_path": str(tmp_path / "i.index")}},
    }  # fmt: skip
    vectors = {"embedding_path": str(tmp_path / "e.npy")}
    await init(retriever, tmp_path, records, **options)
    await retriever("retriever_embed", **vectors, is_multimodal=True)
    await retriever("retriever_index", **vectors)
    assert [len(body["input"]) for body in endpoint.bodies if body.get("modality") == "image"] == [8, 2]
    assert await search(retriever, "a light", "a mill", top_k=1) == [[pages[9]], [pages[8]]]
    found = await retriever("hybrid_search", query_list=["a mill"], searches=["dense"], top_k=2, mmr_lambda=0.5)
    assert found["ret_ids"][0][0] == "8"
    for tool in ("bm25_search", "hybrid_search"):
        with pytest.raises(ToolError, match="images have no words to search by"):
            await retriever(tool, query_list=["a mill"])
    with pytest.raises(ToolError, match="is_multimodal is False, but retriever_init loaded a corpus of images"):
        await retriever("retriever_embed", **vectors)
    # Another picture under the same name is another corpus, once the file that names it is written anew.
    (tmp_path / "image/page_0.png").write_text("a mill too")
    (tmp_path / "corpus.jsonl").write_text("")
    await init(retriever, tmp_path, records, **options)
    with pytest.raises(ToolError, match="was made with another corpus"):
        await search(retriever, "a mill")


async def test_image_corpora_that_can_not_be(retriever: StdioServer, tmp_path: Path, endpoint: FakeEndpoint) -> None:
    options: dict[str, Any] = {"is_multimodal": True, "backend": "wordllama"}
    records = write_images(tmp_path, "mill")
    with pytest.raises(ToolError, match=r"is_multimodal: wordllama does not embed images; set .*sentence_transformers"):
        await init(retriever, tmp_path, records, **options)
    openai = {"openai": {"base_url": endpoint.url, "model_name": "good"}}
    with pytest.raises(ToolError, match=r"openai:.*good does not embed images"):
        await init(retriever, tmp_path, records, **{**options, "backend": "openai", "backend_configs": openai})
    (tmp_path / "notes.txt").write_text("x")
    for record, message in [
        ({"contents": "a"}, r"jsonl:1: a passage needs the key `image_path`; found: contents; .*is_multimodal: false"),
        ({"image_path": "none.png"}, r"jsonl:1: .*none\.png: there is no such image"),
        ({"image_path": "notes.txt"}, r"notes\.txt: by its name this is no image"),
        ({"image_path": "/proc/version"}, "must lie beside the corpus, or in the project folder"),
    ]:
        with pytest.raises(ToolError, match=message):
            await init(retriever, tmp_path, [record], **options)
    with pytest.raises(ToolError, match=r"a corpus like this needs retriever.is_multimodal: true"):
        await init(retriever, tmp_path, records)


async def test_project_memory_is_searched_by_user(retriever: StdioServer, tmp_path: Path) -> None:
    project = tmp_path / "memory" / "ann" / "project"
    project.mkdir(parents=True)
    (project / "2026-01-02.md").write_text(
        "# 2026-01-02\n\n## 10:00\n- user: Who keeps the light?\n- assistant: Ines.\n"
        "\n## 11:00\n- user: Flour?\n- assistant: Ask the mill.\n"
    )
    await init(retriever, tmp_path, backend="wordllama")
    options: dict[str, Any] = {"memory_folder": str(tmp_path / "memory"), "top_k": 1}
    found = await retriever(
        "retriever_project_memory_search", query_list=["lighthouse", ""], current_user_id="ann", **options
    )
    [[first], nothing] = found["project_memory_content"]
    assert "Ines" in first
    assert "Flour" not in first
    assert nothing == []
    nobody = await retriever("retriever_project_memory_search", query_list=["x"], current_user_id="bob", **options)
    assert nobody == {"project_memory_content": [[]]}
    with pytest.raises(ToolError, match="is no user id"):
        await retriever("retriever_project_memory_search", query_list=["x"], current_user_id="../ann", **options)


async def test_rankings_are_scored(retriever: StdioServer) -> None:
    given = {"ret_ids": [["a", "b"], ["x", "g"], ["x"]], "gold_ids": [["a"], ["g", "h"], ["g"]]}
    scored = await retriever("score_rankings", **given)
    scores = scored["ranking_scores"]
    assert scored["per_query"] == {
        "recall@5": [1.0, 0.5, 0.0],
        "mrr": [1.0, 0.5, 0.0],
        "ndcg@10": [1.0, pytest.approx(0.6309 / 1.6309, abs=1e-4), 0.0],
    }
    assert (scores["recall@5"], scores["mrr"]) == (0.5, 0.5)
    with pytest.raises(ToolError, match="2 rankings and 1 lists"):
        await retriever("score_rankings", ret_ids=[[], []], gold_ids=[[]])


async def test_the_shipped_defaults_work(retriever: StdioServer) -> None:
    defaults = yaml.safe_load((ROOT / "servers/retriever/parameter.yaml").read_text())
    tools = {tool.name: tool for tool in await retriever.client.list_tools()}
    given = {name: defaults[name] for name in tools["retriever_init"].input_schema["properties"]}
    await retriever("retriever_init", **given)
    for name in ("retriever_search", "hybrid_search"):
        given = {key: defaults[key] for key in tools[name].input_schema["properties"] if key in defaults}
        found = await retriever(name, query_list=["Who is the keeper of the Gannet Light?"], **given)
        assert "The keeper of the Gannet Light is Ada Fenwick." in found["ret_psg"][0]
