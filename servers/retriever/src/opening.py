"""From parameters to a retriever that is ready to search."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from embedders import EMBEDDERS
from fastmcp.exceptions import ToolError
from indexes import INDEXES
from keywords import Keywords
from passages import Corpus
from retrieval import Progress, Retriever, silent

from workbench.mcp.backends import checked_count, part_of, unread
from workbench.mcp.kit import find_file, output_path

_BATCH = 64
"""Texts that are embedded at once, where nothing is said."""


async def open_retriever(settings: Mapping[str, Any], progress: Progress = silent) -> Retriever:
    """``settings`` are the parameters of ``retriever_init`` by name. Raises ``ToolError``."""
    if settings.get("gpu_ids") is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = str(settings["gpu_ids"])
    backend = str(settings.get("backend") or "wordllama")
    configs = settings.get("backend_configs")
    own = part_of("retriever.backend_configs", configs, backend)
    words = part_of("retriever.backend_configs", configs, "bm25")
    embedder_class = EMBEDDERS.load(backend)
    index_backend = str(settings.get("index_backend") or "faiss")
    index_class = INDEXES.load(index_backend) if backend != "bm25" else None

    of_images = bool(settings.get("is_multimodal"))
    corpus = _corpus(settings, of_images, needed=index_class is None or not index_class.keeps_passages)
    retriever = Retriever(
        corpus=corpus, collection=str(settings.get("collection_name") or ""), of_images=of_images,
        warnings=unread(f"retriever.backend_configs.{backend}", own, embedder_class.settings),
    )  # fmt: skip
    retriever.keywords = Keywords(words, Path(output_path(words["save_path"])) if words.get("save_path") else None)
    size = settings.get("batch_size")
    batch_size = checked_count("retriever.batch_size", _BATCH if size is None else size)
    model = str(settings.get("model_name_or_path") or "")
    # A large model loads for many seconds: the server goes on answering meanwhile.
    retriever.embedder = await asyncio.to_thread(embedder_class, model, own, batch_size)
    if index_class is not None:
        index_configs = part_of("retriever.index_backend_configs", settings.get("index_backend_configs"), index_backend)
        where = f"retriever.index_backend_configs.{index_backend}"
        retriever.warnings += unread(where, index_configs, index_class.settings)
        retriever.index = index_class(index_configs, retriever.embedder.name, corpus)
        await retriever.load_index(progress)
    elif corpus is not None and not of_images:
        _open_keywords(retriever.keywords, corpus)
    if corpus is not None and not corpus.is_checked and not (retriever.index and retriever.index.keeps_passages):
        _ = corpus.fingerprint  # so that a bad line is told now, not in the middle of a search
    return retriever


def _open_keywords(keywords: Keywords, corpus: Corpus) -> None:
    try:
        keywords.load(corpus)
    except ToolError as error:
        # bm25_index may make it anew next; without that a search is refused with the same words.
        print(error, file=sys.stderr)


def _corpus(settings: Mapping[str, Any], of_images: bool, needed: bool) -> Corpus | None:
    """The passages; a store, which keeps them itself, can do without the file."""
    path = find_file(str(settings.get("corpus_path") or ""))
    return Corpus(path, of_images=of_images) if needed or path.is_file() else None
