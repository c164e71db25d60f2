"""Make harbour_guide.pdf from facts.yaml, a page for each town, and harbour_guide_pages.jsonl with each page's text.

Run it from anywhere: ``python pipelines/data/make_guide.py``. It needs PyMuPDF (``ragwb[pdf]``).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parent
PICTURES = "output/guide/image/harbour_guide"
"""Where visrag and evisrag draw the pages: the id of a page is its picture."""
BLUE = (0.1, 0.3, 0.6)


def pages(facts: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, list[str]]]:
    """A title and the lines below it, for each town: a table of what is in it."""
    for town in rows(facts, "town"):
        lines = [
            f"River: {town['river']}",
            f"Founded: {town['founded']}",
            f"Inhabitants: {town['people']}",
            f"Known for: {town['known']}",
            f"Mayor: {town['mayor']}",
            f"Market day: {town['day']}",
        ]
        for inn in rows(facts, "inn"):
            if inn["town"] == town["name"]:
                lines.append(f"Inn: {inn['name']} ({inn['dish']}, {inn['rooms']} rooms, host {inn['host']})")
        for bridge in rows(facts, "bridge"):
            if bridge["town"] == town["name"]:
                lines.append(f"Bridge: {bridge['name']} ({bridge['length']} m, {bridge['material']})")
        for fair in rows(facts, "fair"):
            if fair["town"] == town["name"]:
                lines.append(f"Fair: {fair['name']} in {fair['month']}, first prize {fair['prize']}")
        yield town["name"], lines


def rows(facts: Mapping[str, Mapping[str, Any]], kind: str) -> Iterator[dict[str, Any]]:
    for values in facts[kind]["rows"]:
        yield dict(zip(facts[kind]["columns"], values, strict=True))


def main() -> None:
    """Write both files beside the facts."""
    import pymupdf

    facts = yaml.safe_load((HERE / "facts.yaml").read_text(encoding="utf-8"))
    records = []
    with pymupdf.open() as document:
        for number, (title, lines) in enumerate(pages(facts)):
            page = document.new_page(width=360, height=400)
            page.draw_rect(pymupdf.Rect(0, 0, 360, 60), color=BLUE, fill=BLUE)
            page.insert_text((20, 38), title, fontsize=20, color=(1, 1, 1))
            for place, line in enumerate(lines):
                page.insert_text((20, 90 + 24 * place), line, fontsize=10)
            text = "\n".join([title, *lines])
            records.append({"id": f"{PICTURES}/page_{number}.jpg", "title": title, "contents": text})
        document.save(HERE / "harbour_guide.pdf", garbage=4, deflate=True, no_new_id=True)
    text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    (HERE / "harbour_guide_pages.jsonl").write_text(text, encoding="utf-8")
    print(f"{len(records)} pages")


if __name__ == "__main__":
    main()
