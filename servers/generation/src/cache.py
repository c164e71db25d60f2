"""Answers kept by content in a file: the same model, the same request, the same answer."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from answer import Answer, ToolCall


def content_key(**content: Any) -> str:
    """A name for a request."""
    return hashlib.blake2b(json.dumps(content, sort_keys=True, default=str).encode(), digest_size=16).hexdigest()


class Cache:
    """A SQLite file, which several runs may use at once."""

    def __init__(self, path: Path) -> None:
        """Raises ``sqlite3.Error`` for a file that is none."""
        self._db = sqlite3.connect(path, timeout=10, isolation_level=None, check_same_thread=False)
        self._db.execute("pragma journal_mode=wal")
        self._db.execute("create table if not exists answer (key text primary key, content text not null)")

    def get(self, key: str) -> Answer | None:
        row = self._db.execute("select content from answer where key = ?", (key,)).fetchone()
        if row is None:
            return None
        kept = json.loads(row[0])
        return Answer(**{**kept, "calls": tuple(ToolCall(**call) for call in kept.get("calls") or ())})

    def put(self, key: str, answer: Answer) -> None:
        content: Mapping[str, Any] = asdict(answer)
        self._db.execute("insert or replace into answer values (?, ?)", (key, json.dumps(content, ensure_ascii=False)))

    def close(self) -> None:
        self._db.close()
