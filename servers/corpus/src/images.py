"""Pages as pictures: each page of a PDF as a JPEG of 144 dpi."""

from __future__ import annotations

from pathlib import Path

from documents import DocumentError
from documents.paged import opened

DPI, QUALITY = 144, 90
SUFFIXES = (".pdf",)


def draw_pages(file: Path, folder: Path) -> list[Path]:
    """Write ``page_<n>.jpg`` for every page, from 0. Raises ``DocumentError``."""
    with opened(file) as (document, _):
        folder.mkdir(parents=True, exist_ok=True)
        pictures = []
        for number, page in enumerate(document):
            picture = folder / f"page_{number}.jpg"
            picture.write_bytes(page.get_pixmap(dpi=DPI).tobytes("jpeg", jpg_quality=QUALITY))
            pictures.append(picture)
    if not pictures:
        raise DocumentError(f"{file}: no pages in it")
    return pictures
