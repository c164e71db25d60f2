"""The keyword index on disk: the tokens of the passages, of which the rest is made quickly."""

from __future__ import annotations

import json
from pathlib import Path

from workbench.cases.keywords import KeywordIndex


def save_keywords(index: KeywordIndex, folder: Path, corpus: str) -> None:
    """Keep an index in the folder; ``corpus`` is the passages' fingerprint."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"corpus": corpus, "tokens": index.tokens}, ensure_ascii=False)
    _file(folder).write_text(text, encoding="utf-8")


def load_keywords(folder: Path, corpus: str) -> KeywordIndex | None:
    """The index kept in the folder; None if there is none, or one of another corpus or layout."""
    try:
        kept = json.loads(_file(folder).read_text(encoding="utf-8"))
    except (FileNotFoundError, json.JSONDecodeError):
        return None
    return KeywordIndex(kept["tokens"]) if kept.get("corpus") == corpus else None


def is_kept(folder: Path) -> bool:
    """Whether an index is in the folder, of whatever corpus."""
    return _file(folder).exists()


def _file(folder: Path) -> Path:
    return folder / "bm25_tokens.json"
