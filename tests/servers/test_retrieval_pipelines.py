"""The retrieval pipelines that ragwb ships, run on the shipped passages and questions."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from fake_endpoint import FakeEndpoint
from stdio import ROOT

from workbench.api.pipeline_tests import PipelineRunner

DATA = ROOT / "pipelines" / "data"


def records(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


def plain(text: str) -> str:
    return " ".join(text.split())


def test_each_question_has_gold_passages_that_answer_it() -> None:
    passages = {record["id"]: plain(record["contents"]) for record in records("manual.jsonl")}
    questions = records("manual_questions.jsonl")
    assert len(passages) >= 200
    assert len(questions) >= 50
    for question in questions:
        evidence = plain(question["evidence"])
        held = [name for name, text in passages.items() if evidence in text]
        assert held == question["gold_ids"], question


async def test_the_passages_are_what_the_pipeline_makes_of_the_manual(
    ragwb_pipeline: PipelineRunner, tmp_path: Path
) -> None:
    documents, passages = str(tmp_path / "documents.jsonl"), tmp_path / "corpus.jsonl"
    names = {"text_corpus_save_path": documents, "raw_chunk_path": documents, "chunk_path": str(passages)}
    await ragwb_pipeline("pipelines/corpus_chunk.yaml", sets={f"corpus.{key}": value for key, value in names.items()})
    assert passages.read_text(encoding="utf-8") == (DATA / "manual.jsonl").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("pipeline", "index"),
    [
        ("bm25_search", "bm25_index"),
        ("corpus_search", "corpus_index"),
        ("hybrid_search", None),
        ("corpus_rerank", None),
        ("qdrant_index", None),
        ("milvus_index", None),
    ],
)
async def test_a_search_finds_most_gold_passages(
    ragwb_pipeline: PipelineRunner, pipeline: str, index: str | None
) -> None:
    if pipeline in ("qdrant_index", "milvus_index"):
        pytest.importorskip(f"{'pymilvus' if 'milvus' in pipeline else 'qdrant_client'}")
    if index:
        await ragwb_pipeline(f"pipelines/{index}.yaml")
    run = await ragwb_pipeline(f"pipelines/{pipeline}.yaml")
    assert run.variable("ranking_scores")["recall@5"] > 0.6


async def test_hybrid_search_is_better_than_both_of_its_parts(ragwb_pipeline: PipelineRunner) -> None:
    """The table in the README is this pipeline's; its figures may differ in the last digit with numpy's build."""
    table = (await ragwb_pipeline("pipelines/retrieval_quality.yaml")).variable("ranking_table")
    figures = {way: [float(figure) for figure in row.split(" | ")] for way, row in table.items() if way != "search"}
    for part in ("bm25", "dense"):
        assert all(both > one for both, one in zip(figures["hybrid"], figures[part], strict=True))


async def test_a_tree_is_walked_to_sections(ragwb_pipeline: PipelineRunner, tmp_path: Path) -> None:
    documents = str(tmp_path / "documents.jsonl")
    await ragwb_pipeline("pipelines/build_text_corpus.yaml", sets={"corpus.text_corpus_save_path": documents})
    tree = str(tmp_path / "tree.json")
    sets = {"pageindex.raw_corpus_path": documents, "pageindex.tree_path": tree, "benchmark.benchmark.limit": 1}
    run = await ragwb_pipeline("pipelines/pageindex.yaml", sets=sets)
    [passages], [sources] = run.variable("ret_psg"), run.variable("source_ls")
    assert len(passages) == len(sources) >= 1


async def test_pages_found_as_pictures_are_shown_to_the_model(
    ragwb_pipeline: PipelineRunner, endpoint: FakeEndpoint, tmp_path: Path
) -> None:
    pytest.importorskip("pymupdf")
    lines = (ROOT / "pipelines/visrag.yaml").read_text(encoding="utf-8")
    for old, new in [("bm25_search", "retriever_search"), ("multimodal_path: ret_ids", "multimodal_path: ret_psg")]:
        assert old in lines
        lines = lines.replace(old, new)
    (tmp_path / "parameter").mkdir()
    own = (ROOT / "pipelines/parameter/visrag_parameter.yaml").read_text(encoding="utf-8")
    (tmp_path / "parameter/images_parameter.yaml").write_text(own, encoding="utf-8")
    (tmp_path / "images.yaml").write_text(lines, encoding="utf-8")
    run = await ragwb_pipeline(tmp_path / "images.yaml", sets={
        "retriever.corpus_path": "output/guide/pages.jsonl", "retriever.is_multimodal": True,
        "retriever.backend": "infinity", "retriever.backend_configs": {"infinity": {"base_url": endpoint.url}},
        "benchmark.benchmark.limit": 1, "generation.backend": "openai", "retriever.model_name_or_path": "clip",
        "generation.backend_configs": {"openai": {"model_name": "sees", "base_url": endpoint.url}},
    })  # fmt: skip
    [found] = run.variable("ret_psg")
    assert [Path(page).suffix for page in found] == [".jpg", ".jpg"]
    shown = endpoint.bodies[-1]["messages"][-1]["content"]
    assert [part["type"] for part in shown] == ["image_url", "image_url", "text"]
    pages = [base64.b64encode(Path(page).read_bytes()).decode() for page in found]
    assert [part["image_url"]["url"].partition("base64,")[2] for part in shown[:2]] == pages
