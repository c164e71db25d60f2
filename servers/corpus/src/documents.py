"""Texts of documents: plain text, Markdown, and PDF where PyMuPDF is installed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

SUFFIXES = (".txt", ".md", ".pdf")


class DocumentError(Exception):
    """A document can't be read. ``str()`` names the file and the way out."""


def document_files(path: Path) -> Iterator[Path]:
    """The file itself, or everything readable below a folder, sorted.

    Raises ``DocumentError`` if there is nothing.
    """
    if path.is_file():
        if path.suffix.lower() not in SUFFIXES:
            raise DocumentError(f"{path}: {path.suffix or 'no suffix'} is not read; use {', '.join(SUFFIXES)}")
        yield path
        return
    if not path.is_dir():
        raise DocumentError(f"{path}: there is no such file or folder (corpus.parse_file_path)")
    files = sorted(file for file in path.rglob("*") if file.is_file() and file.suffix.lower() in SUFFIXES)
    if not files:
        raise DocumentError(f"{path}: the folder holds no {', '.join(SUFFIXES)} file")
    yield from files


def document_text(path: Path) -> str:
    """The text of one document, lines ending in a plain newline. Raises ``DocumentError``."""
    if path.suffix.lower() == ".pdf":
        return _pdf_text(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DocumentError(f"{path}: not UTF-8 ({error.reason} at byte {error.start}); save it as UTF-8") from error
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def _pdf_text(path: Path) -> str:
    """Blocks from top to bottom; pages are set apart by a blank line."""
    try:
        import pymupdf
    except ImportError as error:
        raise DocumentError(f"{path}: PDF files need PyMuPDF (AGPL-3.0): pip install 'ragwb[pdf]'") from error
    try:
        with pymupdf.open(path) as pdf:  # type: ignore[no-untyped-call]
            if pdf.needs_pass:
                raise DocumentError(f"{path}: the PDF is locked by a password; save it without one")
            return "\n\n".join(page.get_text(sort=True).strip() for page in pdf).strip()
    except (RuntimeError, ValueError) as error:
        raise DocumentError(f"{path}: not a readable PDF ({error})") from error
