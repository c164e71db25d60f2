"""PDF, XPS, EPUB, MOBI and FB2, by PyMuPDF where it is installed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fastmcp.exceptions import ToolError

from documents import DocumentError, Reading
from documents.layout import Block, in_reading_order, is_running_text, joined, one_block, paragraph
from documents.tidy import tidied
from workbench.mcp.backends import need

_NUMBER = re.compile(r"\d+")
_PAGE_HEIGHT = 20_000
"""Points of a page of a document that flows: a chapter is not cut in the middle of a paragraph."""
_REPEATED = 0.6
"""Share of pages on which a first or last line must stand to be taken for a header or footer."""
_FEWEST = 3
"""Pages below which nothing is taken for a header."""


def read(path: Path) -> Reading:
    """Raises ``DocumentError`` for a document that is locked, damaged or holds no text."""
    with opened(path) as (document, pymupdf):
        return _reading(path, document, pymupdf)


@contextmanager
def opened(path: Path) -> Iterator[tuple[Any, Any]]:
    """The document by PyMuPDF, and that library. Raises ``DocumentError``, also for what goes wrong meanwhile."""
    try:
        pymupdf = need("pymupdf", f"{path}: a reader of {path.suffix} files (PyMuPDF, AGPL-3.0)", "ragwb[pdf]")
    except ToolError as error:
        raise DocumentError(str(error)) from error
    # Its library prints to stdout and stderr otherwise.
    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    pymupdf.TOOLS.reset_mupdf_warnings()
    try:
        with pymupdf.open(path) as document:
            if document.needs_pass:
                raise DocumentError(f"{path}: locked by a password; save it without one")
            yield document, pymupdf
    except (RuntimeError, ValueError) as error:
        raise DocumentError(f"{path}: damaged, or not a {path.suffix} file ({error})") from error


def _reading(path: Path, document: Any, pymupdf: Any) -> Reading:
    flows = bool(document.is_reflowable)
    if flows:
        document.layout(width=600, height=_PAGE_HEIGHT, fontsize=11)
    pages: list[list[Block]] = []
    images, bad = 0, []
    flags = pymupdf.TEXTFLAGS_BLOCKS & ~pymupdf.TEXT_PRESERVE_LIGATURES
    for number in range(len(document)):
        try:
            page = document[number]
            width = float(page.rect.width)
            blocks = [part for block in page.get_text("dict", flags=flags)["blocks"] for part in _parts(block)]
            images += bool(page.get_images()) if document.is_pdf else 0
        except (RuntimeError, ValueError):
            bad.append(number + 1)
            blocks, width = [], 1.0
        pages.append(in_reading_order([block for block in blocks if block.text.strip()], width))
    if not flows:
        pages = _without_headers(pages)
    texts = [tidied(joined(paragraph(block.text) for block in blocks)) for blocks in pages]
    troubles = "\n".join(line for line in str(pymupdf.TOOLS.mupdf_warnings()).splitlines() if "error" in line)
    warnings = [f"page {number} can't be read" for number in bad]
    if troubles:
        empty = [str(n) for n, text in enumerate(texts, 1) if not text]
        pages_lost = f"; no text on page {', '.join(empty)}" if empty and not flows else ""
        warnings.append(f"damaged, read as far as it goes ({troubles.splitlines()[0]}){pages_lost}")
    if not any(texts):
        what = f"{len(texts)} page{'s' * (len(texts) != 1)}"
        scan = ", image only: a scan needs text recognition, see mineru_parse" if images else ""
        raise DocumentError(f"{path}: no text in it ({what}{scan})" + "".join(f"; {one}" for one in warnings))
    return _put_together(texts, paged=not flows, warnings=warnings)


def _parts(block: Mapping[str, Any]) -> list[Block]:
    """A block of PyMuPDF's; two, where lines of two columns that stand at one height were taken for one."""
    lines = [Block(*line["bbox"], "".join(span["text"] for span in line["spans"])) for line in block.get("lines", ())]
    groups: list[list[Block]] = []
    for line in lines:
        home = next(
            (g for g in groups if line.left < max(b.right for b in g) and line.right > min(b.left for b in g)), None
        )
        if home is None:
            groups.append([line])
        else:
            home.append(line)
    if len(groups) > 1 and not all(is_running_text([one_block(group)]) for group in groups):
        groups = [lines]
    return [one_block(group) for group in groups]


def _put_together(texts: Sequence[str], *, paged: bool, warnings: list[str]) -> Reading:
    """The pages as one text. A sentence that goes on overleaf is not parted by an empty line."""
    whole = ""
    starts = []
    for text in texts:
        goes_on = whole and text and text[0].islower() and whole[-1].isalnum()
        if whole and text:
            whole += " " if goes_on else "\n\n"
        starts.append(len(whole))
        whole += text
    return Reading(whole, starts if paged else [], warnings)


def _without_headers(pages: list[list[Block]]) -> list[list[Block]]:
    """Without first and last blocks that stand on most pages, but for the numbers in them."""
    if len(pages) < _FEWEST:
        return pages
    edges = Counter(shape for blocks in pages for shape in {_shape(block) for block in _edges(blocks)})
    repeated = {shape for shape, count in edges.items() if count >= max(2, _REPEATED * len(pages))}
    return [
        [block for block in blocks if not (block in _edges(blocks) and _shape(block) in repeated)] for blocks in pages
    ]


def _edges(blocks: Sequence[Block]) -> list[Block]:
    """The two highest and the two lowest blocks of a page."""
    by_height = sorted(blocks, key=lambda block: block.top)
    return [*by_height[:2], *by_height[-2:]]


def _shape(block: Block) -> str:
    """A line without its numbers, which differ from page to page."""
    return _NUMBER.sub("0", " ".join(block.text.split()))
