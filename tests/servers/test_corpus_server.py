"""The corpus server: reading documents, cutting them, ids."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import corpus
import pytest
from chunking import characters, recursive_chunks, sentence_chunks, token_chunks, words
from fastmcp.exceptions import ToolError

TEXT = "The mill turns. It grinds oats! Who owns it?\n\nRalph does. 磨坊很老。它还在转。"


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_words_join_to_the_text_again() -> None:
    assert "".join(words(TEXT + " \n")) == TEXT + " \n"
    assert words("a mill 磨坊 ") == ["a", " mill", " 磨", "坊 "]


def test_token_chunks_overlap() -> None:
    assert token_chunks("a b c d e", words, 3, 1) == ["a b c", "c d e"]
    assert token_chunks("abcdefg", characters, 3, 0) == ["abc", "def", "g"]
    assert token_chunks("ab", characters, 3, 2) == ["ab"]
    assert token_chunks("", words, 3, 1) == []


def test_sentence_chunks_hold_whole_sentences() -> None:
    assert sentence_chunks(TEXT, words, 6, 0) == [
        "The mill turns. It grinds oats!",
        "Who owns it?\n\nRalph does.",
        "磨坊很老。",
        "它还在转。",
    ]
    assert sentence_chunks("A b. C d. E f.", words, 4, 2) == ["A b. C d.", "C d. E f."]
    assert sentence_chunks("a b c d e", words, 2, 1) == ["a b", "c d", "e"]


def test_recursive_chunks_cut_at_paragraphs_first() -> None:
    assert recursive_chunks("one two three.\n\nfour, five six\nseven", words, 3) == [
        "one two three.",
        "four, five six",
        "seven",
    ]
    assert recursive_chunks("one two", words, 9) == ["one two"]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 100])
@pytest.mark.parametrize("overlap", [0, 1, 4])
def test_no_chunk_is_too_long_and_nothing_is_lost(size: int, overlap: int) -> None:
    overlap = min(overlap, size - 1)
    cuts = [
        token_chunks(TEXT, words, size, overlap),
        sentence_chunks(TEXT, words, size, overlap),
        recursive_chunks(TEXT, words, size),
    ]
    for chunks in cuts:
        assert max(len(words(chunk)) for chunk in chunks) <= size
        assert {word.strip() for word in words(TEXT)} <= {w.strip() for chunk in chunks for w in words(chunk)}


def test_documents_to_chunks(project: Path) -> None:
    for folder in ("a", "b"):
        (project / "docs" / folder).mkdir(parents=True)
        (project / "docs" / folder / "mill.txt").write_bytes(f"\ufeffMill {folder}.\r\nIt turns.".encode())
    (project / "docs" / "empty.md").write_text(" \n")
    corpus.build_text_corpus("docs", "output/docs.jsonl")
    documents = read(project / "output/docs.jsonl")
    assert [(d["id"], d["title"], d["contents"]) for d in documents] == [
        ("a/mill.txt", "mill", "Mill a.\nIt turns."),
        ("b/mill.txt", "mill", "Mill b.\nIt turns."),
    ]
    corpus.chunk_documents("output/docs.jsonl", {}, "sentence", "word", 2, "output/chunks.jsonl", use_title=False)
    chunks = read(project / "output/chunks.jsonl")
    assert [(c["id"], c["doc_id"], c["contents"]) for c in chunks] == [
        ("0", "a/mill.txt", "Mill a."),
        ("1", "a/mill.txt", "It turns."),
        ("2", "b/mill.txt", "Mill b."),
        ("3", "b/mill.txt", "It turns."),
    ]


def test_the_title_goes_before_each_chunk() -> None:
    records = [{"id": "x", "title": "Mill", "contents": "a"}]
    assert corpus.chunk_records(records, lambda text: [text], use_title=True) == [
        {"id": "0", "doc_id": "x", "title": "Mill", "contents": "Title:\nMill\n\nContent:\na"}
    ]


def test_a_pdf(project: Path) -> None:
    import pymupdf

    with pymupdf.open() as pdf:
        for text in ("The mill turns.", "It grinds oats."):
            pdf.new_page().insert_text((72, 72), text)
        pdf.save(project / "mill.pdf")
    corpus.build_text_corpus("mill.pdf", "output/docs.jsonl")
    assert read(project / "output/docs.jsonl")[0]["contents"] == "The mill turns.\n\nIt grinds oats."
    (project / "bad.pdf").write_bytes(b"no pdf")
    with pytest.raises(ToolError, match=r"bad\.pdf: not a readable PDF"):
        corpus.build_text_corpus("bad.pdf", "output/docs.jsonl")


def test_a_pdf_without_pymupdf_says_how_to_get_it(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pymupdf", None)
    (project / "a.pdf").touch()
    with pytest.raises(ToolError, match=r"pip install 'ragwb\[pdf\]'"):
        corpus.build_text_corpus("a.pdf", "output/docs.jsonl")


@pytest.mark.parametrize(
    ("path", "message"),
    [("nowhere", "no such file or folder"), ("empty", "holds no .txt"), ("a.docx", r"\.docx is not read")],
)
def test_documents_that_can_not_be_read(project: Path, path: str, message: str) -> None:
    (project / "empty").mkdir()
    (project / "a.docx").touch()
    with pytest.raises(ToolError, match=message):
        corpus.build_text_corpus(path, "output/docs.jsonl")


@pytest.mark.parametrize(
    ("backend", "counter", "sizes", "message"),
    [
        ("magic", "word", (5, 0), "chunk_backend 'magic' is not known; use token, sentence, recursive"),
        ("token", "gpt2", (5, 0), "'gpt2' is not known; use character or word"),
        ("token", "word", (0, 0), "chunk_size must be 1 or more"),
        ("token", "word", (5, 5), "found 5 and 5"),
    ],
)
def test_settings_that_can_not_be(
    project: Path, backend: str, counter: str, sizes: tuple[int, int], message: str
) -> None:
    (project / "d.jsonl").write_text('{"contents": "a"}\n')
    configs = {backend: {"chunk_overlap": sizes[1]}}
    with pytest.raises(ToolError, match=message):
        corpus.chunk_documents("d.jsonl", configs, backend, counter, sizes[0])


def test_a_broken_record_is_named_with_its_line(project: Path) -> None:
    (project / "d.jsonl").write_text('{"contents": "a"}\n\n{"title": "b"}\n')
    with pytest.raises(ToolError, match=r"d\.jsonl:3: a record needs the key `contents`"):
        corpus.chunk_documents("d.jsonl", {})
