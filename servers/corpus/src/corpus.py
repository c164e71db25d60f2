"""From documents to a corpus of passages that a retriever can index."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from chunking import COUNTERS, Cutter, recursive_chunks, sentence_chunks, token_chunks
from documents import DocumentError, document_files, document_text
from fastmcp.exceptions import ToolError

from workbench.mcp.kit import ToolServer, find_file, output_path

app = ToolServer("corpus")

CHUNK_BACKENDS = ("token", "sentence", "recursive")

Record = dict[str, str]


@app.tool(output="parse_file_path,text_corpus_save_path->")
def build_text_corpus(parse_file_path: str, text_corpus_save_path: str) -> None:
    """Write one record ``{id, title, contents}`` per document as JSON Lines."""
    root = Path(find_file(parse_file_path))
    try:
        records = [record for file in document_files(root) for record in document_record(file, root)]
    except DocumentError as error:
        raise ToolError(str(error)) from error
    write_records(Path(output_path(text_corpus_save_path)), records)


@app.tool(
    output="raw_chunk_path,chunk_backend_configs,chunk_backend,tokenizer_or_token_counter,chunk_size,chunk_path,"
    "use_title->"
)
def chunk_documents(  # noqa: PLR0917 - UltraRAG's signature
    raw_chunk_path: str,
    chunk_backend_configs: dict[str, Any],
    chunk_backend: str = "token",
    tokenizer_or_token_counter: str = "word",
    chunk_size: int = 256,
    chunk_path: str | None = None,
    use_title: bool = True,
) -> None:
    """Cut the records of a corpus into chunks ``{id, doc_id, title, contents}``."""
    units = COUNTERS.get(tokenizer_or_token_counter)
    if units is None:
        raise ToolError(
            f"corpus.tokenizer_or_token_counter {tokenizer_or_token_counter!r} is not known; "
            f"use {' or '.join(COUNTERS)}"
        )
    cut = chunker(chunk_backend, chunk_backend_configs, units, chunk_size)
    source = Path(find_file(raw_chunk_path))
    chunks = chunk_records(read_records(source), cut, use_title)
    target = chunk_path or str(source.with_name(f"{source.stem}_chunks.jsonl"))
    write_records(Path(output_path(target)), chunks)


def chunker(backend: str, configs: Mapping[str, Any], units: Cutter, size: int) -> Cutter:
    """The function that cuts one text. Raises ``ToolError`` for an unknown backend or impossible sizes."""
    if backend not in CHUNK_BACKENDS:
        raise ToolError(f"corpus.chunk_backend {backend!r} is not known; use {', '.join(CHUNK_BACKENDS)}")
    overlap = int((configs.get(backend) or {}).get("chunk_overlap", 0))
    if size < 1 or not 0 <= overlap < size:
        raise ToolError(
            f"corpus.chunk_size must be 1 or more, and chunk_overlap from 0 to below it; found {size} and {overlap}"
        )
    if backend == "token":
        return lambda text: token_chunks(text, units, size, overlap)
    if backend == "sentence":
        return lambda text: sentence_chunks(text, units, size, overlap)
    return lambda text: recursive_chunks(text, units, size)


def document_record(file: Path, root: Path) -> list[Record]:
    """The document's record; none for a document without text.

    Its id is its path below the root, which is unique even where names are equal.
    """
    text = document_text(file)
    if not text:
        print(f"{file}: no text in it; left out", file=sys.stderr)
        return []
    name = file.name if file == root else file.relative_to(root).as_posix()
    return [{"id": name, "title": file.stem, "contents": text}]


def chunk_records(records: Iterable[Mapping[str, Any]], cut: Cutter, use_title: bool) -> list[Record]:
    """All chunks, numbered from 0 through all documents."""
    chunks: list[Record] = []
    for record in records:
        title = str(record.get("title", ""))
        head = f"Title:\n{title}\n\nContent:\n" if use_title and title else ""
        for text in cut(str(record["contents"])):
            doc_id = str(record.get("id", ""))
            chunks.append({"id": str(len(chunks)), "doc_id": doc_id, "title": title, "contents": head + text})
    return chunks


def read_records(path: Path) -> list[dict[str, Any]]:
    """Records with ``contents`` from JSON Lines. Raises ``ToolError`` with file and line."""
    if not path.is_file():
        raise ToolError(f"{path}: there is no such file (corpus.raw_chunk_path); build_text_corpus makes one")
    records = []
    for number, line in enumerate(path.read_text(encoding="utf-8-sig").split("\n"), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            raise ToolError(f"{path}:{number}: not JSON ({error.msg}): {line.strip()[:60]}") from error
        if not isinstance(record, dict) or "contents" not in record:
            raise ToolError(f"{path}:{number}: a record needs the key `contents`")
        records.append(record)
    return records


def write_records(path: Path, records: Iterable[Mapping[str, str]]) -> None:
    """Write JSON Lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        for record in records:
            file.write(json.dumps(record, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    app.run(transport="stdio")
