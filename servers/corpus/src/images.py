"""Pages as pictures: each page of a PDF as a JPEG of 144 dpi."""

from __future__ import annotations

from pathlib import Path

from documents import DocumentError

from workbench.mcp.backends import need

DPI, QUALITY = 144, 90
SUFFIXES = (".pdf",)


def draw_pages(file: Path, folder: Path) -> list[Path]:
    """Write ``page_<n>.jpg`` for every page, from 0. Raises ``DocumentError``."""
    try:
        pymupdf = need("pymupdf", f"{file}: a reader of PDF files (PyMuPDF, AGPL-3.0)", "ragwb[pdf]")
    except Exception as error:
        raise DocumentError(str(error)) from error
    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    try:
        with pymupdf.open(file) as document:
            if document.needs_pass:
                raise DocumentError(f"{file}: locked by a password; save it without one")
            folder.mkdir(parents=True, exist_ok=True)
            pictures = []
            for number, page in enumerate(document):
                picture = folder / f"page_{number}.jpg"
                picture.write_bytes(page.get_pixmap(dpi=DPI).tobytes("jpeg", jpg_quality=QUALITY))
                pictures.append(picture)
    except (RuntimeError, ValueError, OSError) as error:
        raise DocumentError(f"{file}: damaged, or no PDF ({error})") from error
    if not pictures:
        raise DocumentError(f"{file}: no pages in it")
    return pictures
