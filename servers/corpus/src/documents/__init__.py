"""Texts of documents: a registry of readers by suffix, and what every reader gives."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from fastmcp.exceptions import ToolError

READERS = {
    ".txt": "documents.plain:read",
    ".md": "documents.plain:read",
    ".docx": "documents.docx:read",
    ".pdf": "documents.paged:read",
    ".xps": "documents.paged:read",
    ".oxps": "documents.paged:read",
    ".epub": "documents.paged:read",
    ".mobi": "documents.paged:read",
    ".fb2": "documents.paged:read",
}
_ELSEWHERE = {
    ".doc": "save it as .docx",
    ".wps": "save it as .docx",
    ".odt": "save it as .docx",
    ".rtf": "save it as .docx",
    ".htm": "save it as .md or .txt",
    ".html": "save it as .md or .txt",
}


class DocumentError(ToolError):
    """A document can't be read, or holds no text. ``str()`` names the file and the way out."""


@dataclass(frozen=True)
class Reading:
    """What was read of one document."""

    text: str
    page_starts: list[int] = field(default_factory=list)
    """Where each page begins in the text, in characters; none for a document without pages."""
    warnings: list[str] = field(default_factory=list)
    """What could not be read of it, or only guessed."""


def document_files(path: Path) -> tuple[list[Path], list[Path]]:
    """The file itself, or everything below a folder, sorted: what can be read, and the rest.

    Raises ``DocumentError`` if nothing can be.
    """
    if path.is_file():
        if path.suffix.lower() not in READERS:
            raise DocumentError(f"{path}: {unreadable(path)}")
        return [path], []
    if not path.is_dir():
        raise DocumentError(f"{path}: there is no such file or folder (corpus.parse_file_path)")
    files = list(_below(path))
    found = [file for file in files if file.suffix.lower() in READERS]
    if not found:
        raise DocumentError(f"{path}: the folder holds no {', '.join(READERS)} file")
    return found, [file for file in files if file.suffix.lower() not in READERS]


def is_document(path: Path) -> bool:
    """Whether it is a text, but of a kind that another program has to save anew."""
    return path.suffix.lower() in _ELSEWHERE


def unreadable(path: Path) -> str:
    """Why a file of this suffix is not read."""
    suffix = path.suffix.lower()
    advice = _ELSEWHERE.get(suffix, f"use {', '.join(READERS)}")
    return f"{suffix or 'a file without suffix'} is not read; {advice}"


def read_document(path: Path) -> Reading:
    """The text of one document, lines ending in a plain newline. Raises ``DocumentError``."""
    module, _, name = READERS[path.suffix.lower()].partition(":")
    read = getattr(importlib.import_module(module), name)
    try:
        reading: Reading = read(path)
    except OSError as error:
        raise DocumentError(f"{path}: it can't be opened ({error.strerror or error})") from error
    except RecursionError as error:
        raise DocumentError(f"{path}: its parts lie too deep in each other to be read") from error
    if not reading.text.strip():
        raise DocumentError(f"{path}: no text in it")
    return reading


def _below(folder: Path) -> Iterator[Path]:
    """Files in the order of their paths; hidden ones, and links out of the folder, are left alone."""
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith(".") or entry.is_symlink():
            continue
        if entry.is_dir():
            yield from _below(entry)
        elif entry.is_file():
            yield entry
