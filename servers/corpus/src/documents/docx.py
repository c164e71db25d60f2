"""Word files: paragraphs, tables and text boxes in the order of the document.

A table's row is a line, its cells set apart by `` | ``, a merged cell once. What was inserted with tracked changes is
there, what was deleted is not. Headers, footers, footnotes and comments are left out.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from documents import DocumentError, Reading
from documents.tidy import tidied

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_LARGEST = 100 << 20
"""Bytes of its XML that are unpacked: a zip of a few kilobytes can hold far more."""
_AROUND = tuple(f"{_W}{name}" for name in ("sdt", "sdtContent", "customXml", "ins", "moveTo"))
"""What may stand around rows and cells."""
_BREAKS = {f"{_W}tab": "\t", f"{_W}br": "\n", f"{_W}cr": "\n", f"{_W}noBreakHyphen": "-"}


def read(path: Path) -> Reading:
    """Raises ``DocumentError``."""
    try:
        with zipfile.ZipFile(path) as archive:
            entry = archive.getinfo("word/document.xml")
            if entry.file_size > _LARGEST:
                raise DocumentError(
                    f"{path}: unpacked, its text is {entry.file_size:,} bytes, and {_LARGEST:,} are the most that is "
                    "read; split the document"
                )
            body = ElementTree.fromstring(archive.read(entry)).find(f"{_W}body")
    except (zipfile.BadZipFile, KeyError, ElementTree.ParseError, NotImplementedError, RuntimeError) as error:
        with path.open("rb") as file:
            locked = file.read(8) == bytes.fromhex("d0cf11e0a1b11ae1")
        reason = "locked by a password, or an old .doc under another name" if locked else f"not readable ({error})"
        raise DocumentError(f"{path}: {reason}; open it in a word processor and save it as .docx") from error
    return Reading(tidied("\n\n".join(_blocks(body)) if body is not None else ""))


def _blocks(parent: ElementTree.Element) -> Iterator[str]:
    """Paragraphs and tables, those in content controls too."""
    for child in parent:
        if child.tag == f"{_W}p":
            yield from _paragraph(child)
        elif child.tag == f"{_W}tbl":
            yield "\n".join(_rows(child))
        elif child.tag not in (f"{_W}del", f"{_W}moveFrom", f"{_W}sectPr"):
            yield from _blocks(child)


def _paragraph(paragraph: ElementTree.Element) -> Iterator[str]:
    """Its text, then the text boxes that hang on it."""
    boxes: list[ElementTree.Element] = []
    text = "".join(_runs(paragraph, boxes)).strip()
    if text:
        yield text
    for box in boxes:
        yield from _blocks(box)


def _runs(element: ElementTree.Element, boxes: list[ElementTree.Element]) -> Iterator[str]:
    for child in element:
        if child.tag == f"{_W}t":
            yield child.text or ""
        elif child.tag in _BREAKS:
            yield _BREAKS[child.tag]
        elif child.tag == f"{_W}txbxContent":
            boxes.append(child)
        elif child.tag not in (f"{_W}del", f"{_W}moveFrom", _FALLBACK):  # the fallback says the same again
            yield from _runs(child, boxes)


def _rows(table: ElementTree.Element) -> Iterator[str]:
    for row in _direct(table, f"{_W}tr"):
        whole = (cell for cell in _direct(row, f"{_W}tc") if not _continues(cell))
        cells = [" ".join(" ".join(_blocks(cell)).split()) for cell in whole]
        if any(cells):
            yield " | ".join(cells)


def _direct(parent: ElementTree.Element, tag: str) -> Iterator[ElementTree.Element]:
    """A table's own rows, a row's own cells, also those in content controls; not those of a table in a cell."""
    for child in parent:
        if child.tag == tag:
            yield child
        elif child.tag in _AROUND:
            yield from _direct(child, tag)


def _continues(cell: ElementTree.Element) -> bool:
    """Whether it is merged with the cell above, which has the text."""
    merge = cell.find(f"{_W}tcPr/{_W}vMerge")
    return merge is not None and merge.get(f"{_W}val", "continue") == "continue"
