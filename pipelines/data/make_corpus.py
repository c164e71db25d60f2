"""Make corpus.jsonl from facts.yaml: one passage per row and kind of passage, wordings taking turns.

Run it from anywhere: ``python pipelines/data/make_corpus.py``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parent


YEARS = ("year", "founded")
"""The columns that say when something began."""


def passages(facts: Mapping[str, Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Records ``{id, kind, title, year, contents}``; ids are ``<kind>-<row>-<passage>``, some have no year."""
    for kind, table in facts.items():
        for row_number, values in enumerate(table["rows"]):
            row = dict(zip(table["columns"], values, strict=True))
            for number, wordings in enumerate(table["passages"]):
                text = wordings[row_number % len(wordings)].format(**row)
                title = str(row.get("name", ""))
                year = next((row[column] for column in YEARS if column in row), None)
                about = {"id": f"{kind}-{row_number}-{number}", "kind": kind, "title": title}
                yield {**about, **({} if year is None else {"year": year}), "contents": text}


def main() -> None:
    """Write the corpus beside the facts."""
    facts = yaml.safe_load((HERE / "facts.yaml").read_text(encoding="utf-8"))
    lines = [json.dumps(record, ensure_ascii=False) + "\n" for record in passages(facts)]
    (HERE / "corpus.jsonl").write_text("".join(lines), encoding="utf-8")
    print(f"{len(lines)} passages")


if __name__ == "__main__":
    main()
