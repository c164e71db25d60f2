"""The corpus server over stdio: reading documents of all kinds, pictures of pages, MinerU, chunks."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pymupdf
import pytest
import pytest_asyncio
import yaml
from fastmcp.exceptions import ToolError
from stdio import ROOT, StdioServer, running

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
FAKE_MINERU = """#!/bin/sh
# What the real command leaves, for one document: <out>/<stem>/auto/<stem>.md and images/.
echo "loading model $5 $6"
test "$6" = bar && { head -c 200000 /dev/zero | tr '\\0' '#' | fold -w 100 | tr '\\n' '\\r'; echo; }
test "$6" = broken && { echo "no model called broken"; exit 3; }
stem=$(basename "$2" .pdf)
mkdir -p "$4/$stem/auto/images"
printf '# Scan\\n\\nThe vault opens at noon.\\n' > "$4/$stem/auto/$stem.md"
printf 'jpeg' > "$4/$stem/auto/images/a.jpg"
"""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def corpus(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[StdioServer]:
    folder = tmp_path_factory.mktemp("corpus")
    program = folder / "bin" / "mineru"
    program.parent.mkdir()
    program.write_text(FAKE_MINERU)
    program.chmod(0o755)
    async with running("corpus", folder, PATH=f"{program.parent}{os.pathsep}{os.environ['PATH']}") as server:
        yield server


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write_pdf(path: Path, *pages: str, **options: Any) -> None:
    with pymupdf.open() as pdf:
        for text in pages:
            pdf.new_page().insert_text((72, 72), text)
        pdf.save(path, **options)


def write_docx(path: Path, body: str) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("word/document.xml", f'<w:document xmlns:w="{W}"><w:body>{body}</w:body></w:document>')


async def text_of(server: StdioServer, file: Path) -> str:
    """What ``build_text_corpus`` makes of one file."""
    target = file.with_name("of_one.jsonl")
    await server("build_text_corpus", parse_file_path=str(file), text_corpus_save_path=str(target))
    [record] = read(target)
    return str(record["contents"])


async def test_a_folder_is_read_file_by_file(corpus: StdioServer, tmp_path: Path) -> None:
    for folder in ("2023", "2024"):
        (tmp_path / "docs" / folder).mkdir(parents=True)
        (tmp_path / "docs" / folder / "notes.md").write_bytes(f"\ufeffNotes {folder}.\r\n\r\n\r\n\r\nEnd.".encode())
    (tmp_path / "docs" / "2024" / "notes.txt").write_text("Text.")
    (tmp_path / "docs" / "empty.md").write_text(" \n")
    (tmp_path / "docs" / "table.csv").write_text("a,b")
    (tmp_path / "docs" / ".hidden.md").write_text("no")
    target = tmp_path / "output" / "docs.jsonl"
    said = await corpus("build_text_corpus", parse_file_path=str(tmp_path / "docs"), text_corpus_save_path=str(target))
    assert [(record["id"], record["title"], record["contents"]) for record in read(target)] == [
        ("2023/notes.md", "notes", "Notes 2023.\n\nEnd."),
        ("2024/notes.md", "notes", "Notes 2024.\n\nEnd."),
        ("2024/notes.txt", "notes", "Text."),
    ]
    assert said["documents"] == {
        "seen": 4, "used": 3, "left_out": ["empty.md: no text in it"], "warnings": [], "skipped": ["table.csv"],
    }  # fmt: skip
    assert [done for done, *_ in corpus.progress] == [1, 2, 3, 4]
    assert "4 documents seen, 3 used, 1 other files skipped" in corpus.said()


async def test_bad_files_are_named_and_skipped_or_stop_the_run(corpus: StdioServer, tmp_path: Path) -> None:
    docs, target = tmp_path / "docs", tmp_path / "docs.jsonl"
    docs.mkdir()
    write_pdf(docs / "good.pdf", "The ferry leaves at dawn.")
    write_pdf(docs / "locked.pdf", "x", encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="salt", owner_pw="pepper")
    (docs / "cut.pdf").write_bytes((docs / "good.pdf").read_bytes()[:300])
    with pymupdf.open() as pdf:
        picture = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 20, 8))
        pdf.new_page().insert_image(pymupdf.Rect(50, 50, 450, 210), pixmap=picture)
        pdf.save(docs / "scanned.pdf")
    arguments = {"parse_file_path": str(docs), "text_corpus_save_path": str(target)}
    said = (await corpus("build_text_corpus", **arguments))["documents"]
    assert (said["seen"], said["used"]) == (4, 1)
    assert [reason.split(" (")[0] for reason in said["left_out"]] == [
        "cut.pdf: damaged, or not a .pdf file",
        "locked.pdf: locked by a password; save it without one",
        "scanned.pdf: no text in it",
    ]
    assert "1 page, image only" in said["left_out"][2]
    warned = (await corpus.client.call_tool("build_text_corpus", arguments)).meta or {}
    assert warned["ragwb"]["warnings"] == said["left_out"]
    kept = target.read_text()
    with pytest.raises(ToolError, match=r"cut\.pdf: damaged"):
        await corpus("build_text_corpus", **arguments, on_bad_file="stop")
    assert target.read_text() == kept
    with pytest.raises(ToolError, match=r"scanned\.pdf: no text in it \(1 page"):
        await text_of(corpus, docs / "scanned.pdf")
    with pytest.raises(ToolError, match="use skip or stop"):
        await corpus("build_text_corpus", **arguments, on_bad_file="cry")
    assert list(tmp_path.glob(".*")) == []


async def test_a_damaged_stream_keeps_what_can_be_read_and_no_noise(corpus: StdioServer, tmp_path: Path) -> None:
    write_pdf(tmp_path / "ok.pdf", "page one is fine", "page two will be damaged", deflate=True)
    data = bytearray((tmp_path / "ok.pdf").read_bytes())
    at = data.rfind(b"stream\n", 0, data.rfind(b"endstream")) + 9
    data[at : at + 20] = b"A" * 20
    (tmp_path / "damaged.pdf").write_bytes(data)
    target = tmp_path / "d.jsonl"
    said = await corpus(
        "build_text_corpus", parse_file_path=str(tmp_path / "damaged.pdf"), text_corpus_save_path=str(target)
    )
    [warning] = said["documents"]["warnings"]
    assert warning.startswith("damaged.pdf: damaged, read as far as it goes")
    assert warning.endswith("no text on page 2")
    assert read(target)[0]["contents"] == "page one is fine"
    assert "MuPDF" not in corpus.said()


async def test_headers_ligatures_and_hyphens_of_pdf_pages(corpus: StdioServer, tmp_path: Path) -> None:
    seasons = ("spring", "summer", "autumn")
    with pymupdf.open() as pdf:
        for number, season in enumerate(seasons, 1):
            page = pdf.new_page()
            page.insert_text((72, 40), f"The Mill Report    page {number}")
            page.insert_text((72, 100), f"The water wheel turns in {season} and exam-\nple pages go on for long")
            page.insert_text((72, 800), f"{number}")
        pdf.save(tmp_path / "report.pdf")
    await corpus("build_text_corpus", parse_file_path=str(tmp_path), text_corpus_save_path=str(tmp_path / "docs.jsonl"))
    [record] = read(tmp_path / "docs.jsonl")
    pages = [f"The water wheel turns in {season} and example pages go on for long" for season in seasons]
    assert record["contents"] == "\n\n".join(pages)
    assert [record["contents"][at : at + len(pages[0])] for at in record["page_starts"]] == pages
    (tmp_path / "l.txt").write_text("\ufb01ne o\ufb03ce\u00ad")
    assert await text_of(corpus, tmp_path / "l.txt") == "fine office"


async def test_columns_are_read_one_after_the_other(corpus: StdioServer, tmp_path: Path) -> None:
    left = ["LEFT one begins the tale.", "LEFT two goes on.", "LEFT three ends it."]
    right = ["RIGHT one is another matter.", "RIGHT two goes too.", "RIGHT three as well."]
    with pymupdf.open() as pdf:
        page = pdf.new_page(width=500, height=300)
        for n in range(3):
            page.insert_textbox(pymupdf.Rect(40, 40 + 70 * n, 230, 90 + 70 * n), left[n])
            page.insert_textbox(pymupdf.Rect(270, 38 + 70 * n, 460, 88 + 70 * n), right[n])
        for row, cells in enumerate([("salt", "1900"), ("oats", "1950")]):
            for column, cell in enumerate(cells):
                page.insert_text((40 + 300 * column, 250 + 20 * row), cell)
        pdf.save(tmp_path / "columns.pdf")
    text = (await text_of(corpus, tmp_path / "columns.pdf")).split("\n\n")
    assert text[:6] == [*left, *right] or text[:3] == left
    assert text[-2:] == ["salt 1900", "oats 1950"]


async def test_a_word_file_in_its_order(corpus: StdioServer, tmp_path: Path) -> None:
    p = "<w:p><w:r><w:t>{}</w:t></w:r></w:p>".format
    cell = ("<w:tc>{}" + p("{}") + "</w:tc>").format
    wide = '<w:tcPr><w:gridSpan w:val="2"/></w:tcPr>'
    merged, goes_on = (f'<w:tcPr><w:vMerge w:val="{how}"/></w:tcPr>' for how in ("restart", "continue"))
    table = (
        f"<w:tr>{cell(wide, 'MERGED')}</w:tr><w:tr>{cell(merged, 'salt')}{cell('', '12')}</w:tr>"
        f"<w:tr>{cell(goes_on, '')}{cell('', '13')}</w:tr>"
    )
    changes = (
        '<w:p><w:r><w:t xml:space="preserve">Price </w:t></w:r><w:ins><w:r><w:t>IN</w:t></w:r></w:ins>'
        "<w:del><w:r><w:delText>OUT</w:delText></w:r></w:del></w:p>"
    )
    box = f"<w:p><w:r><w:t>Host.</w:t><w:pict><w:txbxContent>{p('BOX')}</w:txbxContent></w:pict></w:r></w:p>"
    controlled = f"<w:sdt><w:sdtContent>{p('Controlled')}</w:sdtContent></w:sdt>"
    body = p("Before") + f"<w:tbl>{table}</w:tbl>" + p("After") + changes + box + controlled
    write_docx(tmp_path / "ledger.docx", body)
    assert (await text_of(corpus, tmp_path / "ledger.docx")).split("\n\n") == [
        "Before", "MERGED\nsalt | 12\n13", "After", "Price IN", "Host.", "BOX", "Controlled",
    ]  # fmt: skip
    (tmp_path / "bad.docx").write_bytes(b"PK no zip")
    with pytest.raises(ToolError, match=r"bad\.docx: not readable"):
        await text_of(corpus, tmp_path / "bad.docx")


async def test_a_table_in_a_table_stands_once(corpus: StdioServer, tmp_path: Path) -> None:
    cell = "<w:tc><w:p><w:r><w:t>{}</w:t></w:r></w:p>{}</w:tc>".format
    inner = f"<w:tbl><w:tr>{cell('inner', '')}</w:tr></w:tbl>"
    controlled = f"<w:sdt><w:sdtContent><w:tr>{cell('controlled', '')}</w:tr></w:sdtContent></w:sdt>"
    body = f"<w:tbl><w:tr>{cell('outer', inner)}{cell('beside', '')}</w:tr>{controlled}</w:tbl>"
    write_docx(tmp_path / "nested.docx", body)
    assert await text_of(corpus, tmp_path / "nested.docx") == "outer inner | beside\ncontrolled"


async def test_files_that_can_not_be_read_are_skipped(corpus: StdioServer, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "good.txt").write_text("The ferry leaves at dawn.")
    write_docx(docs / "deep.docx", "<w:sdt>" * 3000 + "</w:sdt>" * 3000)
    for name in ("away.txt", "away.docx"):
        (docs / name).write_text("x")
        (docs / name).chmod(0)
    target = str(tmp_path / "docs.jsonl")
    said = await corpus("build_text_corpus", parse_file_path=str(docs), text_corpus_save_path=target)
    left_out = said["documents"]["left_out"]
    assert "deep.docx: its parts lie too deep in each other to be read" in left_out
    if os.geteuid():  # root reads everything
        assert {"away.txt: it can't be opened (Permission denied)", "away.docx: it can't be opened (Permission denied)"
                } <= set(left_out)  # fmt: skip


async def test_chunks_do_not_take_the_place_of_their_documents(corpus: StdioServer, tmp_path: Path) -> None:
    source = tmp_path / "d.jsonl"
    source.write_text('{"id": "a", "contents": "one two"}\n')
    options: dict[str, Any] = {"raw_chunk_path": str(source), "chunk_backend": "recursive"}
    with pytest.raises(ToolError, match="chunk_path is raw_chunk_path"):
        await corpus("chunk_documents", chunk_path=str(source), chunk_backend_configs={}, **options)
    assert read(source) == [{"id": "a", "contents": "one two"}]
    configs = {"recursive": {"min_characters_per_chunk": 12}}
    result = await corpus.client.call_tool("chunk_documents", {**options, "chunk_backend_configs": configs})
    assert (result.meta or {})["ragwb"]["warnings"] == [
        "corpus.chunk_backend_configs.recursive.min_characters_per_chunk is not read: small parts are joined while "
        "they fit"
    ]


async def test_a_book_in_the_order_of_its_spine(corpus: StdioServer, tmp_path: Path) -> None:
    def page(body: str, head: str = "") -> str:
        return (
            f'<html xmlns="http://www.w3.org/1999/xhtml"><head><title>t</title>{head}</head><body>{body}</body></html>'
        )

    with zipfile.ZipFile(tmp_path / "tide.epub", "w") as book:
        book.writestr("mimetype", "application/epub+zip")
        book.writestr(
            "META-INF/container.xml",
            '<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
            '<rootfile full-path="c.opf" media-type="application/oebps-package+xml"/></rootfiles></container>',
        )
        book.writestr(
            "c.opf",
            '<package version="3.0" xmlns="http://www.idpf.org/2007/opf"><manifest>'
            '<item id="b" href="2.xhtml" media-type="application/xhtml+xml"/>'
            '<item id="a" href="1.xhtml" media-type="application/xhtml+xml"/>'
            '</manifest><spine><itemref idref="a"/><itemref idref="b"/></spine></package>',
        )
        book.writestr("1.xhtml", page("<p>FIRST the tide &amp; the mill.</p>"))
        book.writestr(
            "2.xhtml", page("<p>SECOND it&#160;falls.</p><script>var no = 1;</script>", "<style>p {color: red}</style>")
        )
    assert await text_of(corpus, tmp_path / "tide.epub") == "FIRST the tide & the mill.\n\nSECOND it falls."


async def test_a_book_in_one_file_of_xml(corpus: StdioServer, tmp_path: Path) -> None:
    (tmp_path / "b.fb2").write_text(
        '<?xml version="1.0" encoding="utf-8"?><FictionBook xmlns="http://www.gribuser.ru/xml/fictionbook/2.0"><body>'
        "<section><title><p>Tide</p></title><p>It rises.</p><p>It falls.</p></section></body></FictionBook>",
        encoding="utf-8",
    )
    assert await text_of(corpus, tmp_path / "b.fb2") == "Tide\n\nIt rises.\n\nIt falls."


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("gbk", "盐坊建在马罗镇的河边。"),
        ("gb18030", "灯"),
        ("utf-16", "北灯塔 The keeper"),
        ("utf-8-sig", "naïve café"),
        ("cp1252", "Größe über Straße, naïve café. " * 5),
        ("cp1251", "Привет мир, это длинный текст на русском языке. " * 4),
    ],
)
async def test_encodings_are_found_out(corpus: StdioServer, tmp_path: Path, encoding: str, text: str) -> None:
    (tmp_path / "t.txt").write_bytes(text.encode(encoding))
    assert await text_of(corpus, tmp_path / "t.txt") == text.strip()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nowhere", "no such file or folder"),
        ("empty", r"holds no \.txt"),
        ("a.doc", r"\.doc is not read; save it as \.docx"),
        ("a.zip", r"\.zip is not read; use \.txt"),
    ],
)
async def test_documents_that_can_not_be_read(corpus: StdioServer, tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "empty").mkdir()
    for file in ("a.doc", "a.zip"):
        (tmp_path / file).touch()
    with pytest.raises(ToolError, match=message):
        await text_of(corpus, tmp_path / name)


async def test_pages_are_drawn(corpus: StdioServer, tmp_path: Path) -> None:
    (tmp_path / "docs" / "a").mkdir(parents=True)
    for name in ("mill.pdf", "a/mill.pdf"):
        write_pdf(tmp_path / "docs" / name, "one", "two")
    (tmp_path / "docs" / "notes.md").write_text("no picture")
    target = tmp_path / "out" / "images.jsonl"
    said = await corpus(
        "build_image_corpus", parse_file_path=str(tmp_path / "docs"), image_corpus_save_path=str(target)
    )
    assert said["documents"]["skipped"] == ["notes.md"]
    records = read(target)
    assert [(record["id"], record["image_id"], record["image_path"]) for record in records[::3]] == [
        ("0", "a/mill/page_0.jpg", "image/a/mill/page_0.jpg"),
        ("3", "mill/page_1.jpg", "image/mill/page_1.jpg"),
    ]
    picture = pymupdf.Pixmap(target.parent / records[0]["image_path"])
    assert (picture.width, picture.height) == (595 * 2, 842 * 2)
    with pytest.raises(ToolError, match=r"no \.pdf file in it"):
        await corpus(
            "build_image_corpus", parse_file_path=str(tmp_path / "docs/notes.md"), image_corpus_save_path=str(target)
        )


async def test_mineru_is_run_and_collected(corpus: StdioServer, tmp_path: Path) -> None:
    write_pdf(tmp_path / "scan [1].pdf", "")
    parse = {"parse_file_path": str(tmp_path / "scan [1].pdf"), "mineru_dir": str(tmp_path / "mineru")}
    await corpus("mineru_parse", **parse, mineru_extra_params={"backend": "pipeline"})
    assert corpus.progress[0][2] == "loading model --backend pipeline"
    targets = {
        "text_corpus_save_path": str(tmp_path / "out/texts.jsonl"),
        "image_corpus_save_path": str(tmp_path / "out/images.jsonl"),
    }
    await corpus("build_mineru_corpus", **parse, **targets)
    await corpus("mineru_parse", **parse, mineru_extra_params={"backend": "bar"})
    assert len(corpus.progress) == 1 + 2000
    [text] = read(tmp_path / "out/texts.jsonl")
    assert (text["id"], text["contents"]) == ("scan [1].pdf", "# Scan\n\nThe vault opens at noon.")
    [image] = read(tmp_path / "out/images.jsonl")
    assert (tmp_path / "out" / image["image_path"]).read_text() == "jpeg"
    with pytest.raises(ToolError, match=r"mineru ended with 3: loading model --backend broken \| no model called"):
        await corpus("mineru_parse", **parse, mineru_extra_params={"backend": "broken"})
    with pytest.raises(ToolError, match=r"nothing to collect.*run mineru_parse first"):
        await corpus("build_mineru_corpus", **{**parse, "mineru_dir": str(tmp_path)}, **targets)


async def test_what_is_not_installed_says_how_to_get_it(tmp_path: Path) -> None:
    (tmp_path / "pymupdf.py").write_text("raise ImportError(name='pymupdf')")
    (tmp_path / "a.pdf").touch()
    async with running("corpus", tmp_path, PATH="/nowhere", PYTHONPATH=f"{tmp_path}{os.pathsep}{ROOT}") as server:
        with pytest.raises(ToolError, match=r"pip install 'ragwb\[pdf\]'"):
            await text_of(server, tmp_path / "a.pdf")
        with pytest.raises(ToolError, match=r"`mineru`, which is not on the PATH"):
            await server("mineru_parse", parse_file_path=str(tmp_path / "a.pdf"), mineru_dir=str(tmp_path / "m"))


TEXT = "The kiln burns all night. At dawn the door stays shut. Only on the third day may it be opened."


async def chunks(server: StdioServer, folder: Path, **options: Any) -> list[dict[str, Any]]:
    record = {"id": "d1", "title": "Kilns", "contents": TEXT, "page_starts": [0, 30], "year": 1900}
    (folder / "docs.jsonl").write_text(json.dumps(record) + "\n")
    settings = {
        "chunk_backend_configs": {}, "chunk_path": str(folder / "chunks.jsonl"), "use_title": False,
        "tokenizer_or_token_counter": "character", "chunk_size": 40,
    }  # fmt: skip
    await server("chunk_documents", raw_chunk_path=str(folder / "docs.jsonl"), **{**settings, **options})
    return read(folder / "chunks.jsonl")


@pytest.mark.parametrize("backend", ["token", "sentence", "recursive"])
@pytest.mark.parametrize("counter", ["character", "word", "cl100k_base"])
async def test_chunks_join_to_the_document_and_know_their_place(
    corpus: StdioServer, tmp_path: Path, backend: str, counter: str
) -> None:
    configs = {"recursive": {"min_characters_per_chunk": 12}, "sentence": {"min_sentences_per_chunk": 1}}
    size = 40 if counter == "character" else 8
    found = await chunks(
        corpus, tmp_path, chunk_backend=backend, chunk_backend_configs=configs, chunk_size=size,
        tokenizer_or_token_counter=counter,
    )  # fmt: skip
    assert "".join(chunk["contents"] for chunk in found) == TEXT
    assert [chunk["id"] for chunk in found] == [str(n) for n in range(len(found))]
    assert all(TEXT[chunk["start"] : chunk["end"]] == chunk["contents"] for chunk in found)
    assert [chunk["page"] for chunk in found] == [1 if chunk["start"] < 30 else 2 for chunk in found]
    assert {(chunk["doc_id"], chunk["year"]) for chunk in found} == {("d1", 1900)}


async def test_titles_overlap_and_delimiters(corpus: StdioServer, tmp_path: Path) -> None:
    [first, *_] = await chunks(corpus, tmp_path, use_title=True)
    assert first["contents"] == f"Title:\nKilns\n\nContent:\n{TEXT[:40]}"
    found = await chunks(corpus, tmp_path, chunk_backend_configs={"token": {"chunk_overlap": 10}})
    assert found[0]["contents"][-10:] == found[1]["contents"][:10]
    for delimiter in (["shut"], "['shut']", "shut"):
        configs = {"sentence": {"delim": delimiter}}
        parted = await chunks(corpus, tmp_path, chunk_backend="sentence", chunk_size=60, chunk_backend_configs=configs)
        assert [chunk["contents"][-4:] for chunk in parted] == ["shut", "ned."]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"chunk_backend": "magic"}, "chunk_backend 'magic' is not known; use token, sentence, recursive"),
        ({"tokenizer_or_token_counter": "gpt9"}, r"unknown .* 'gpt9'; known are character, word, .*cl100k_base"),
        ({"chunk_size": 0}, "chunk_size must be 1 or more"),
        ({"chunk_size": 5, "chunk_backend_configs": {"token": {"chunk_overlap": 5}}}, "found 5 and 5"),
        ({"chunk_backend_configs": {"token": {"overlap": 5}}}, "token knows chunk_overlap; found overlap"),
        ({"chunk_backend": "sentence", "chunk_backend_configs": {"sentence": {"delim": "[1]"}}}, "list of texts"),
    ],
)
async def test_settings_that_can_not_be(
    corpus: StdioServer, tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ToolError, match=message):
        await chunks(corpus, tmp_path, **options)
    assert not (tmp_path / "chunks.jsonl").exists()


async def test_a_broken_record_is_named_with_its_line(corpus: StdioServer, tmp_path: Path) -> None:
    for text, message in [
        ('{"contents": "a"}\n\n{"title": "b"}\n', r"d\.jsonl:3: a record needs the key `contents`"),
        ('\ufeff{"contents": "a"}\n{"contents\n', r"d\.jsonl:2: not JSON"),
    ]:
        (tmp_path / "d.jsonl").write_text(text)
        with pytest.raises(ToolError, match=message):
            await corpus("chunk_documents", raw_chunk_path=str(tmp_path / "d.jsonl"), chunk_backend_configs={})


async def test_the_shipped_defaults_work(corpus: StdioServer) -> None:
    defaults = yaml.safe_load((ROOT / "servers/corpus/parameter.yaml").read_text())
    for tool in await corpus.client.list_tools():
        if tool.name in ("build_text_corpus", "chunk_documents"):
            await corpus(tool.name, **{name: defaults[name] for name in tool.input_schema["properties"]})
    assert len(read(corpus.project / "output/corpus.jsonl")) > 2
