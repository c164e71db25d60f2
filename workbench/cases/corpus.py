"""The corpus that a run searched, where it is at hand: whether a gold is in it, and how far from being found."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from msgspec import Struct

from workbench.cases.gold import Golds
from workbench.cases.keywords import KeywordIndex
from workbench.cases.pipeline_beside import KnownPipeline
from workbench.pipeline.project import shipped_folder

_LARGEST = 50_000_000
"""Bytes; a larger corpus is not read."""
_LOOKS = 2_000_000
"""Passages that are looked at in one study, over all items: some two seconds."""
_RANKS = 500_000
"""Passages that are ranked in one study, over all items: some two seconds."""


class InCorpus(Struct, frozen=True):
    """``passage`` is the passage with the gold that a search by words finds first, at ``rank`` from 1.

    None of both: the gold is in no passage; ``rank`` None alone: not ranked, since the corpus is large.
    """

    passage: str | None = None
    rank: int | None = None


class Corpus:
    """Passages at hand. What one study may look at is bounded: it is to take seconds."""

    def __init__(self, file: Path, passages: list[str]) -> None:
        self.file, self.passages = file, passages
        self._looks, self._ranks = _LOOKS, _RANKS

    @cached_property
    def _index(self) -> KeywordIndex:
        return KeywordIndex.of_texts(self.passages)

    def look_for(self, golds: Golds, query: str) -> InCorpus | None:
        """Where the golds are; None where the corpus is too large to look for yet another item."""
        self._looks -= len(self.passages)
        if self._looks < 0:
            return None
        places = [place for place, passage in enumerate(self.passages) if golds.found_in(passage) is not None]
        if not places:
            return InCorpus()
        self._ranks -= len(self.passages)
        if self._ranks < 0:
            return InCorpus(self.passages[places[0]])
        scores = self._index.scores(query)
        best = max(places, key=lambda place: scores[place])
        rank = 1 + sum(score > scores[best] for score in scores)
        return InCorpus(self.passages[best], rank if scores[best] > 0 else None)


def corpus_of(known: KnownPipeline | None) -> Corpus | None:
    """The corpus that the pipeline's parameters name; None where there is none, or it is too large."""
    if known is None:
        return None
    for section in known.parameters.values.values():
        named = section.get("corpus_path")
        if named is not None and isinstance(named.value, str):
            for folder in (known.project, shipped_folder(), Path.cwd()):
                file = folder / named.value
                if file.is_file() and file.stat().st_size <= _LARGEST:
                    passages = list(_passages(file))
                    return Corpus(file, passages) if passages else None
    return None


def _passages(file: Path) -> Iterator[str]:
    for line in file.read_text(encoding="utf-8-sig", errors="replace").split("\n"):
        try:
            record = json.loads(line) if line.strip() else None
        except ValueError:
            continue
        if isinstance(record, dict) and isinstance(record.get("contents"), str):
            yield record["contents"]
