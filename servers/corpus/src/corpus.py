"""From documents to a corpus of passages that a retriever can index."""

from __future__ import annotations

import ast
import asyncio
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from building import each_document, name_of, told
from chunking import (
    SENTENCE_END,
    Span,
    UnitFinder,
    recursive_spans,
    sentence_pattern,
    sentence_spans,
    token_spans,
)
from counting import unit_finder
from documents import Reading, document_files, read_document
from fastmcp.exceptions import ToolError
from images import SUFFIXES as PDF
from images import draw_pages
from mineru import parsed, pictures_of, run_mineru

from workbench.mcp.backends import part_of
from workbench.mcp.json_lines import WholeFile, read_records
from workbench.mcp.kit import MarkedResult, ToolServer, check_lengths, find_file, output_path

app = ToolServer("corpus")

CHUNK_OPTIONS = {
    "token": {"chunk_overlap"},
    "sentence": {"chunk_overlap", "delim", "min_sentences_per_chunk"},
    "recursive": set(),
}
"""What chunk_backend_configs may hold."""
JOINED = {"min_characters_per_sentence", "min_characters_per_chunk"}
"""UltraRAG's least lengths: told that they do nothing, for small parts are joined while they fit."""
_TOLD_EVERY = 200
"""Records between two words about progress."""

OWN_KEYS = ("id", "doc_id", "title", "contents", "start", "end", "page_starts")
"""What each chunk has for itself; the other keys of a record are those of all its chunks."""

Cut = Callable[[str], list[Span]]


@app.tool(output="parse_file_path,text_corpus_save_path,on_bad_file->")
async def build_text_corpus(
    parse_file_path: str, text_corpus_save_path: str, on_bad_file: str = "skip"
) -> MarkedResult:
    """Write one record ``{id, title, contents}`` per document as JSON Lines, with where its pages begin."""
    root = find_file(parse_file_path)
    with WholeFile(output_path(text_corpus_save_path)) as target:

        def keep(file: Path, reading: Reading) -> Sequence[str]:
            target.write([document_record(file, root, reading)])
            return reading.warnings

        account = await each_document(root, on_bad_file, read_document, keep)
    return account.shown()


@app.tool(output="parse_file_path,image_corpus_save_path,on_bad_file->")
async def build_image_corpus(
    parse_file_path: str, image_corpus_save_path: str, on_bad_file: str = "skip"
) -> MarkedResult:
    """Draw every page of the PDF files; one record ``{id, image_id, image_path}`` per page as JSON Lines."""
    root, path = find_file(parse_file_path), output_path(image_corpus_save_path)
    folder = path.parent / "image"
    with WholeFile(path) as target:

        def keep(file: Path, pictures: Sequence[Path]) -> Sequence[str]:
            target.write(image_records(pictures, path.parent, target.count))
            return ()

        def draw(file: Path) -> list[Path]:
            return draw_pages(file, folder / Path(name_of(file, root)).with_suffix(""))

        account = await each_document(root, on_bad_file, draw, keep, PDF)
    return account.shown()


@app.tool(output="parse_file_path,mineru_dir,mineru_extra_params->")
async def mineru_parse(
    parse_file_path: str, mineru_dir: str, mineru_extra_params: dict[str, Any] | None = None
) -> None:
    """Recognise the text of scans by MinerU, where its command is installed."""
    source = find_file(parse_file_path)
    if not source.exists():
        raise ToolError(f"{source}: there is no such file or folder (corpus.parse_file_path)")
    lines = 0

    async def tell(line: str) -> None:
        nonlocal lines
        lines += 1
        await told(lines, lines + 1, line)

    await run_mineru(source, output_path(mineru_dir), mineru_extra_params or {}, tell)


@app.tool(output="mineru_dir,parse_file_path,text_corpus_save_path,image_corpus_save_path->")
def build_mineru_corpus(
    mineru_dir: str, parse_file_path: str, text_corpus_save_path: str, image_corpus_save_path: str
) -> MarkedResult:
    """Collect what ``mineru_parse`` left: texts as ``build_text_corpus`` writes them, and the pictures in them."""
    root, folder = find_file(parse_file_path), find_file(mineru_dir)
    images = output_path(image_corpus_save_path)
    files, _ = document_files(root)
    left_out: list[str] = []
    with WholeFile(output_path(text_corpus_save_path)) as texts, WholeFile(images) as pictures:
        for file, markdown in parsed(folder, by_stem(files)):
            if markdown is None:
                left_out.append(f"{name_of(file, root)}: nothing of it in {folder}; run mineru_parse first")
                continue
            texts.write([document_record(file, root, read_document(markdown))])
            home = images.parent / "image" / file.stem
            home.mkdir(parents=True, exist_ok=True)
            copies = [Path(shutil.copy2(picture, home)) for picture in pictures_of(markdown)]
            pictures.write(image_records(copies, images.parent, pictures.count))
        if not texts.count:
            raise ToolError(f"{folder}: nothing to collect. " + "; ".join(left_out))
    account = {"seen": len(files), "used": texts.count, "left_out": left_out}
    return MarkedResult({"documents": account}, warnings=left_out)


@app.tool(
    output="raw_chunk_path,chunk_backend_configs,chunk_backend,tokenizer_or_token_counter,chunk_size,chunk_path,"
    "use_title->"
)
async def chunk_documents(  # noqa: PLR0917 - UltraRAG's signature
    raw_chunk_path: str,
    chunk_backend_configs: dict[str, Any],
    chunk_backend: str = "token",
    tokenizer_or_token_counter: str = "character",
    chunk_size: int = 256,
    chunk_path: str | None = None,
    use_title: bool = True,
) -> MarkedResult:
    """Cut the records of a corpus into chunks ``{id, doc_id, title, contents, start, end, page}``."""
    find = unit_finder(tokenizer_or_token_counter)
    cut = chunker(chunk_backend, chunk_backend_configs, find, chunk_size)
    source = find_file(raw_chunk_path)
    path = output_path(chunk_path or str(source.with_name(f"{source.stem}_chunks.jsonl")))
    if path.resolve() == source.resolve():
        raise ToolError(f"{path}: corpus.chunk_path is raw_chunk_path; the chunks would take the documents' place")
    records = list(documents_of(source))
    with WholeFile(path) as target:
        for at in range(0, len(records), _TOLD_EVERY):
            some = records[at : at + _TOLD_EVERY]
            await asyncio.to_thread(write_chunks, target, some, cut, use_title)
            await told(at + len(some), len(records), f"{target.count:,} chunks")
    ignored = sorted(JOINED & set(part_of("corpus.chunk_backend_configs", chunk_backend_configs, chunk_backend)))
    where = f"corpus.chunk_backend_configs.{chunk_backend}"
    warnings = [f"{where}.{name} is not read: small parts are joined while they fit" for name in ignored]
    return MarkedResult({"chunks": target.count}, warnings=warnings)


def documents_of(source: Path) -> Iterator[dict[str, Any]]:
    """The records of a corpus of documents. Raises ``ToolError`` with the line."""
    if not source.is_file():
        raise ToolError(f"{source}: there is no such file (corpus.raw_chunk_path); build_text_corpus makes one")
    for number, record in read_records(source):
        if "contents" not in record:
            raise ToolError(f"{source}:{number}: a record needs the key `contents`")
        yield record


@app.tool(output="entrance_ids,passage_ls,entrance_ls,entrances_path,keep_passages->")
def write_entrances(
    entrance_ids: list[str],
    passage_ls: list[str],
    entrance_ls: list[list[str]],
    entrances_path: str,
    keep_passages: bool = True,
) -> dict[str, Any]:
    """A corpus of texts by which passages are found besides their own: questions they answer, summaries.

    ``entrance_ls``: passages x texts. Records are ``{id, parent, contents}``; ``parent`` is the passage's id.
    ``keep_passages``: the passage is an entrance to itself, too.
    """
    check_lengths(entrance_ids=entrance_ids, passage_ls=passage_ls, entrance_ls=entrance_ls)
    with WholeFile(output_path(entrances_path)) as target:
        for name, passage, texts in zip(entrance_ids, passage_ls, entrance_ls, strict=True):
            own = [{"id": str(name), "parent": str(name), "contents": passage}] if keep_passages else []
            further = [{"id": f"{name}#{n}", "parent": str(name), "contents": t} for n, t in enumerate(texts, 1)]
            target.write([*own, *further])
    return {"entrances": target.count}


def write_chunks(target: WholeFile, records: Sequence[Mapping[str, Any]], cut: Cut, use_title: bool) -> None:
    """Add the chunks of some records; chunks are numbered from 0 through all documents."""
    for record in records:
        target.write(chunk_records(record, cut, use_title, target.count))


def chunker(backend: str, configs: Mapping[str, Any], find: UnitFinder, size: int) -> Cut:
    """The function that cuts one text. Raises ``ToolError`` for an unknown backend, option or impossible sizes."""
    if backend not in CHUNK_OPTIONS:
        raise ToolError(f"corpus.chunk_backend {backend!r} is not known; use {', '.join(CHUNK_OPTIONS)}")
    options = part_of("corpus.chunk_backend_configs", configs, backend)
    unknown = sorted(set(options) - CHUNK_OPTIONS[backend] - JOINED)
    if unknown:
        known = ", ".join(sorted(CHUNK_OPTIONS[backend])) or "no options"
        raise ToolError(f"corpus.chunk_backend_configs.{backend} knows {known}; found {', '.join(unknown)}")
    overlap = whole_option(options, backend, "chunk_overlap", 0)
    if size < 1 or not 0 <= overlap < size:
        raise ToolError(
            f"corpus.chunk_size must be 1 or more, and chunk_overlap from 0 to below it; found {size} and {overlap}"
        )
    if backend == "token":
        return partial(token_spans, find=find, size=size, overlap=overlap)
    if backend == "recursive":
        return partial(recursive_spans, find=find, size=size)
    return partial(
        sentence_spans, find=find, size=size, overlap=overlap,
        pattern=sentence_pattern(delimiters(options["delim"])) if options.get("delim") else SENTENCE_END,
        least=max(1, whole_option(options, backend, "min_sentences_per_chunk", 1)),
    )  # fmt: skip


def whole_option(options: Mapping[str, Any], backend: str, name: str, usual: int) -> int:
    """A whole number of a chunk backend's options. Raises ``ToolError``."""
    value = options.get(name, usual)
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError) as error:
        where = f"corpus.chunk_backend_configs.{backend}.{name}"
        raise ToolError(f"{where} must be a whole number; found {value!r}") from error


def delimiters(given: Any) -> list[str]:
    """What sentences end with: a list, or one written as text. Raises ``ToolError``."""
    try:
        value = ast.literal_eval(given) if isinstance(given, str) and given.lstrip().startswith("[") else given
    except (ValueError, SyntaxError) as error:
        raise ToolError(f"corpus.chunk_backend_configs.sentence.delim is no list: {given!r}") from error
    found = [value] if isinstance(value, str) else value
    if not isinstance(found, list) or not all(isinstance(one, str) and one for one in found) or not found:
        raise ToolError(f"corpus.chunk_backend_configs.sentence.delim must be a list of texts; found {given!r}")
    return found


def document_record(file: Path, root: Path, reading: Reading) -> dict[str, Any]:
    """The document's record. Its id is its path below the root, its title its name."""
    record: dict[str, Any] = {"id": name_of(file, root), "title": file.stem, "contents": reading.text}
    return {**record, "page_starts": reading.page_starts} if reading.page_starts else record


def chunk_records(record: Mapping[str, Any], cut: Cut, use_title: bool, first: int) -> Iterator[dict[str, Any]]:
    """The chunks of a record: where each is in its document (characters; the page from 1), and its other keys.

    A chunk's chunks are of that chunk: its place in a document is not theirs.
    """
    text, title = str(record["contents"]), str(record.get("title") or "")
    head = f"Title:\n{title}\n\nContent:\n" if use_title and title else ""
    starts: Sequence[int] = record.get("page_starts") or ()
    other = {key: value for key, value in record.items() if key not in OWN_KEYS}
    for number, (start, end) in enumerate(cut(text), start=first):
        chunk = {"id": str(number), "doc_id": str(record.get("id", "")), "title": title,
                 "contents": head + text[start:end], **other, "start": start, "end": end}  # fmt: skip
        if starts:
            chunk["page"] = max(1, sum(begin <= start for begin in starts))
        yield chunk


def image_records(pictures: Sequence[Path], folder: Path, first: int) -> Iterator[dict[str, Any]]:
    """One record a picture; its path is relative to the corpus file."""
    for number, picture in enumerate(pictures, start=first):
        path = picture.relative_to(folder).as_posix()
        yield {"id": str(number), "image_id": path.removeprefix("image/"), "image_path": path}


def by_stem(files: Sequence[Path]) -> dict[str, Path]:
    """Documents by the name that MinerU gives their folder. Raises ``ToolError`` where two have one."""
    stems: dict[str, Path] = {}
    for file in files:
        if file.stem in stems:
            raise ToolError(f"{file} and {stems[file.stem]} have one name for MinerU: rename one of them")
        stems[file.stem] = file
    return stems


if __name__ == "__main__":
    app.run(transport="stdio")
