"""What a user talked about before: dialogues that a memory server kept as Markdown, searched as passages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from hits import Hit

if TYPE_CHECKING:
    from embedders import Embedder, Vectors

_ENTRY = re.compile(r"^(?=## )", re.MULTILINE)


def entries(folder: Path) -> list[tuple[str, str]]:
    """Ids and texts of the dialogues in ``folder/*.md``, oldest first: one for each heading ``## date time``."""
    found: list[tuple[str, str]] = []
    for file in sorted(folder.glob("*.md")):
        parts = [part.strip() for part in _ENTRY.split(file.read_text(encoding="utf-8"))]
        found += [(f"{file.stem}-{n}", part) for n, part in enumerate(p for p in parts if p.startswith("## "))]
    return found


@dataclass
class MemoryIndex:
    """The embedded dialogues of one user after another; embedded again only when there are others."""

    texts: list[tuple[str, str]] = field(default_factory=list)
    vectors: Vectors | None = None
    model: str = ""

    async def search(self, folder: Path, embedder: Embedder, queries: Sequence[str], top_k: int) -> list[list[Hit]]:
        """Queries x dialogues, nearest first."""
        import numpy as np

        texts = entries(folder)
        if not texts or not queries:
            return [[] for _ in queries]
        if texts != self.texts or embedder.name != self.model or self.vectors is None:
            self.vectors = await embedder.embed([text for _, text in texts])
            self.texts, self.model = texts, embedder.name
        scores = (await embedder.embed(list(queries), queries=True)) @ self.vectors.T
        order = np.argsort(-scores, axis=1, kind="stable")[:, :top_k]
        return [
            [Hit(*texts[n], float(row[n]), n) for n in best.tolist()] for row, best in zip(scores, order, strict=True)
        ]
