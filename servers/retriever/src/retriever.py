"""Passages for questions: by words (BM25) and by embeddings."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from embedders import EmbedderError, load_embedder
from fastmcp.exceptions import ToolError
from passages import CorpusError, read_corpus
from retrieval import RetrievalError, Retriever
from vectors import VectorsError

from workbench.mcp.kit import ToolServer, find_file, output_path

app = ToolServer("retriever")

retriever = Retriever()


@app.tool(
    output="model_name_or_path,backend_configs,batch_size,corpus_path,gpu_ids,is_multimodal,backend,index_backend,"
    "index_backend_configs,is_demo,collection_name->"
)
def retriever_init(  # noqa: PLR0917 - UltraRAG's signature
    model_name_or_path: str,
    backend_configs: dict[str, Any],
    batch_size: int,
    corpus_path: str,
    gpu_ids: str | int | None = None,
    is_multimodal: bool = False,
    backend: str = "wordllama",
    index_backend: str = "faiss",
    index_backend_configs: dict[str, Any] | None = None,
    is_demo: bool = False,
    collection_name: str = "",
) -> None:
    """Load the corpus, the model and the index; without an index file the passages are embedded in memory."""
    global retriever  # noqa: PLW0603 - the one thing this server holds
    if is_multimodal:
        raise ToolError("retriever.is_multimodal: image corpora are not read; set it to false")
    _refuse_collections(collection_name)
    if is_demo:
        raise ToolError("retriever.is_demo: there is no demo mode here; set it to false")
    with told():
        loaded = Retriever(
            corpus=read_corpus(find_file(corpus_path)),
            index_backend=index_backend,
            index_path=configured_path(index_backend_configs, index_backend, "index_path"),
            keywords_folder=configured_path(backend_configs, "bm25", "save_path"),
        )
        if backend != "bm25":
            configs = backend_configs.get(backend) or {}
            loaded.embedder = load_embedder(backend, model_name_or_path, configs, batch_size, gpu_ids)
            loaded.load_index()
        retriever = loaded


def _refuse_collections(name: str) -> None:
    """Collections belong to index backends that are servers; here an index is a file."""
    if name:
        raise ToolError(f"retriever.collection_name: {name!r} can't be used: faiss and numpy have no collections")


@app.tool(output="embedding_path,overwrite,is_multimodal->")
def retriever_embed(embedding_path: str | None = None, overwrite: bool = False, is_multimodal: bool = False) -> None:
    """Embed the corpus into a file."""
    with told():
        retriever.embed(Path(output_path(embedding_path or "output/embedding.npy")), overwrite)


@app.tool(output="embedding_path,overwrite,collection_name,corpus_path->")
def retriever_index(
    embedding_path: str, overwrite: bool = False, collection_name: str = "", corpus_path: str = ""
) -> None:
    """Make the index from the embedded corpus."""
    _refuse_collections(collection_name)
    with told():
        retriever.make_index(Path(output_path(embedding_path)), overwrite)


@app.tool(output="q_ls,top_k,query_instruction,collection_name->ret_psg")
def retriever_search(
    query_list: list[str], top_k: int = 5, query_instruction: str = "", collection_name: str = ""
) -> dict[str, list[list[str]]]:
    """The nearest passages of each query, nearest first."""
    _refuse_collections(collection_name)
    with told():
        return {"ret_psg": retriever.search(query_list, top_k, query_instruction)}


@app.tool(output="overwrite->")
def bm25_index(overwrite: bool = False) -> None:
    """Index the words of the corpus."""
    with told():
        retriever.make_keywords(overwrite)


@app.tool(output="q_ls,top_k->ret_psg")
def bm25_search(query_list: list[str], top_k: int = 5) -> dict[str, list[list[str]]]:
    """The passages that share the most telling words with each query, best first."""
    with told():
        return {"ret_psg": retriever.keyword_search(query_list, top_k)}


@contextmanager
def told() -> Iterator[None]:
    """Turn the retriever's own errors into what the client is told."""
    try:
        yield
    except (CorpusError, EmbedderError, RetrievalError, VectorsError) as error:
        raise ToolError(str(error)) from error


def configured_path(configs: dict[str, Any] | None, backend: str, key: str) -> Path | None:
    """A path in a backend's part of a configuration; None where it is empty or missing."""
    value = ((configs or {}).get(backend) or {}).get(key)
    return Path(output_path(value)) if value else None


if __name__ == "__main__":
    app.run(transport="stdio")
