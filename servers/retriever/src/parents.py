"""From what a search found to what stands behind it: the passage that a question was made of, the document of a chunk.

Small texts are found better, large ones answer better ("parent document" and "multi-vector" retrieval).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from fastmcp.exceptions import ToolError
from hits import Hit
from passages import Corpus, Stamp, passage_id


def read_parents(entrances: Corpus, path: Path, key: str) -> Parents:
    """The parents of a corpus in the file at ``path``; kept, since reading both takes longer than a search."""
    if not path.is_file():
        raise ToolError(f"{path}: there is no such corpus (retriever.parents_path)")
    return _read_parents(entrances, path, Stamp.of(path), key)


@lru_cache(maxsize=2)
def _read_parents(entrances: Corpus, path: Path, stamp: Stamp, key: str) -> Parents:
    return Parents(entrances, Corpus(path), key)


class Parents:
    """Which passage of one corpus stands behind each passage of another."""

    def __init__(self, entrances: Corpus, parents: Corpus, key: str) -> None:
        """``key`` names the parent's id in an entrance's record.

        Raises ``ToolError`` where one has none, and for an id that leads to two passages.
        """
        self._parents = parents
        self._places: dict[str, int] = {}
        for place, record in enumerate(parents.records()):
            if self._places.setdefault(passage_id(record, place), place) != place:
                raise _twice(parents, passage_id(record, place), "which of them stands behind a passage can't be told")
        self._parent_of: dict[str, str] = {}
        for place, record in enumerate(entrances.records()):
            if record.get(key) is None:
                raise ToolError(f"{entrances.path}: record {place + 1} has no `{key}` (retriever.parent_key)")
            name, parent = passage_id(record, place), str(record[key])
            if self._parent_of.setdefault(name, parent) != parent:
                raise _twice(entrances, name, f"with two parents, {self._parent_of[name]!r} and {parent!r}")

    def behind(self, ids: Sequence[str], most: int | None) -> list[Hit]:
        """The parents of some hits, each once, in the order of the first hit that leads to it; best first."""
        named = dict.fromkeys(self._parent(name) for name in ids)
        hits = [self._hit(name, 1 / rank) for rank, name in enumerate(named, start=1)]
        return hits[:most]

    def _parent(self, entrance: str) -> str:
        try:
            return self._parent_of[entrance]
        except KeyError:
            raise ToolError(f"ret_ids has {entrance!r}, which is no passage of the corpus that was searched") from None

    def _hit(self, name: str, score: float) -> Hit:
        place = self._places.get(name)
        if place is None:
            raise ToolError(f"{self._parents.path}: there is no passage {name!r}, which an entrance leads to")
        return Hit(name, self._parents.text(place), score, place)


def _twice(corpus: Corpus, name: str, why: str) -> ToolError:
    return ToolError(f"{corpus.path}: the id {name!r} stands there twice, {why}; give every passage an id of its own")
