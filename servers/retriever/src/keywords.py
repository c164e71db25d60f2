"""BM25 indexes: a registry of two libraries that give the same scores, in memory and on disk.

The weights are those of ``workbench.cases.keywords``: Okapi's term weight, Lucene's idf, which is above zero for
every word. Only passages that share a word with the query score above zero.
"""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import orjson
from fastmcp.exceptions import ToolError
from origins import Origin, check_origin, check_place, origin_file, read_origin, write_origin
from word_cutting import cutter

from workbench.cases.keywords import KeywordIndex
from workbench.mcp.backends import Backends, is_installed, need

if TYPE_CHECKING:
    import numpy as np
    from passages import Corpus

    Scores = np.ndarray[Any, np.dtype[np.float64]]

RANKERS = Backends(
    "retriever.backend_configs.bm25.ranker",
    {"rank_bm25": "keywords:RankBM25", "bm25s": "keywords:BM25S"},
)
LARGE = 20_000
"""Passages from which on bm25s is taken, where it is installed: rank_bm25 looks at every passage for every word."""
K1, B = 1.5, 0.75
LAYOUT = 2
"""Of a saved index; one of another layout is refused."""
FILES = frozenset(
    ["tokens.json", "bm25_tokens.json", "vocab.index.json", "params.index.json", "corpus.jsonl", "corpus.mmindex.json"]
    + ["vocab.tokenizer.json", "stopwords.tokenizer.json"]
    + [f"{name}.csc.index.npy" for name in ("data", "indices", "indptr")]
)
"""What an index folder may hold: ours, those of earlier versions and of bm25s itself."""
REMAKE = "Run bm25_index with overwrite: true, or name another save_path"


class KeywordsError(ToolError):
    """A BM25 index can't be used. ``str()`` says why, and the way out."""


class Ranker(Protocol):
    """BM25 over one corpus, by one library."""

    @classmethod
    def of_tokens(cls, passages: Iterable[Sequence[str]]) -> Ranker:
        """Index passages x words."""

    @classmethod
    def load(cls, folder: Path) -> Ranker:
        """What ``save`` left."""

    def save(self, folder: Path) -> None:
        """Keep it as data."""

    def scores(self, words: Sequence[str]) -> Scores:
        """One score a passage; 0 where it shares no word with the query."""


class RankBM25:
    """rank_bm25, which keeps counts in dictionaries; on disk there are the words, of which the rest is made."""

    def __init__(self, index: KeywordIndex) -> None:
        self._index = index

    @classmethod
    def of_tokens(cls, passages: Iterable[Sequence[str]]) -> RankBM25:
        return cls(KeywordIndex(list(passages)))

    @classmethod
    def load(cls, folder: Path) -> RankBM25:
        return cls(KeywordIndex(orjson.loads((folder / "tokens.json").read_bytes())))

    def save(self, folder: Path) -> None:
        (folder / "tokens.json").write_bytes(orjson.dumps(self._index.tokens))

    def scores(self, words: Sequence[str]) -> Scores:
        return self._index.scores_of(words)


class BM25S:
    """bm25s, which keeps each word's scores in a sparse matrix, mapped into memory from disk."""

    def __init__(self, index: Any) -> None:
        self._index = index

    @classmethod
    def of_tokens(cls, passages: Iterable[Sequence[str]]) -> BM25S:
        import numpy as np

        vocabulary: dict[str, int] = {}
        ids = [
            np.array([vocabulary.setdefault(word, len(vocabulary)) for word in words], dtype=np.int32)
            for words in passages
        ]
        if not vocabulary:
            # No word at all: one that no query has, for its scores divide by the mean length.
            vocabulary[""], ids = 0, [np.zeros(1, dtype=np.int32) for _ in ids]
        index = _bm25s().BM25(method="lucene", k1=K1, b=B, dtype="float64")
        index.index((ids, vocabulary), show_progress=False)
        # Its Lucene variant leaves out the factor k1 + 1, which is the same for all.
        index.scores["data"] *= K1 + 1
        return cls(index)

    @classmethod
    def load(cls, folder: Path) -> BM25S:
        return cls(_bm25s().BM25.load(folder, mmap=True, show_progress=False))

    def save(self, folder: Path) -> None:
        self._index.save(folder, show_progress=False)

    def scores(self, words: Sequence[str]) -> Scores:
        import numpy as np

        known = [word for word in words if word and word in self._index.vocab_dict]
        if not known:
            return np.zeros(self._index.scores["num_docs"])
        found: Scores = self._index.get_scores(known)
        return found


class Keywords:
    """BM25 search of one corpus: the words, the index, and the folder that it is kept in."""

    def __init__(self, configs: Mapping[str, Any], folder: Path | None) -> None:
        """``configs``: lang, tokenizer, stopwords, ranker, save_path (here ``folder``). Raises ``ToolError``."""
        self.tokenizer, self.cut = cutter(
            str(configs.get("tokenizer") or "auto"),
            str(configs.get("lang") or "en"),
            configs.get("stopwords") if isinstance(configs.get("stopwords"), list) else (),
        )
        self.ranker = str(configs.get("ranker") or "auto")
        if self.ranker != "auto":
            RANKERS.load(self.ranker)
        self.folder = folder
        self._ranker: Ranker | None = None

    @property
    def is_ready(self) -> bool:
        """Whether there is something to search."""
        return self._ranker is not None

    def load(self, corpus: Corpus) -> bool:
        """Open the saved index; False if there is none. Raises ``OriginError`` if it is stale or foreign."""
        if self.folder is None or read_origin(self.folder) is None:
            return False
        check_origin(self.folder, corpus, self._settings(), REMAKE)
        kept = read_origin(self.folder)
        ranker = str(kept.settings["ranker"]) if kept else self.ranker
        try:
            self._ranker = RANKERS.load(ranker).load(self.folder)
        except (OSError, ValueError, KeyError) as error:
            raise KeywordsError(f"{self.folder} can't be read ({error}). {REMAKE}") from error
        return True

    def make(self, corpus: Corpus, keep: bool = True) -> str:
        """Index the corpus, and ``keep`` the index where a folder is set. Returns what was done, for the log."""
        ranker = self._choice(len(corpus))
        if self.folder is not None and keep:
            check_place(self.folder)
        self._ranker = RANKERS.load(ranker).of_tokens(self.cut(text) for text in corpus.texts())
        if self.folder is None or not keep:
            return f"BM25 index of {len(corpus)} passages in memory ({ranker}, {self.tokenizer})"
        folder = self.folder
        origin_file(folder).unlink(missing_ok=True)
        replace_folder(folder, self._ranker.save)
        write_origin(folder, Origin.of(corpus, {**self._settings(), "ranker": ranker}))
        return f"{folder}: BM25 index of {len(corpus)} passages ({ranker}, {self.tokenizer})"

    def scores(self, query: str) -> Scores:
        """One score a passage."""
        if self._ranker is None:
            raise KeywordsError("the BM25 index is not made: run retriever.bm25_index first")
        return self._ranker.scores(self.cut(query))

    def _choice(self, passages: int) -> str:
        if self.ranker != "auto":
            return self.ranker
        return "bm25s" if passages >= LARGE and is_installed("bm25s") else "rank_bm25"

    def _settings(self) -> dict[str, Any]:
        return {"tokenizer": self.tokenizer, "k1": K1, "b": B, "layout": LAYOUT}


def best(scores: Scores, top_k: int) -> list[int]:
    """Positions of the best passages that score above zero, best first, equal ones in the order of the corpus."""
    import numpy as np

    found = np.flatnonzero(scores > 0)
    if len(found) > top_k:
        # All that reach the last place: equal scores must not be cut at random.
        least = np.partition(scores[found], len(found) - top_k)[len(found) - top_k]
        found = found[scores[found] >= least]
    order = np.argsort(-scores[found], kind="stable")[:top_k]
    positions: list[int] = found[order].tolist()
    return positions


def replace_folder(folder: Path, fill: Callable[[Path], Any]) -> None:
    """Let ``fill`` make a folder under another name, and put it in place of the old one when it is whole.

    Raises ``KeywordsError`` for an old one that holds anything but an index: it would be lost.
    """
    others = [file.name for file in folder.iterdir() if file.name not in FILES] if folder.is_dir() else []
    if folder.is_file() or others:
        what = f"holds other files ({', '.join(sorted(others)[:3])})" if others else "is a file"
        raise KeywordsError(f"retriever.backend_configs.bm25.save_path {folder} {what}; name a folder of its own")
    part = folder.with_name(f".{folder.name}.{os.getpid()}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    try:
        fill(part)
        shutil.rmtree(folder, ignore_errors=True)
        part.replace(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _bm25s() -> Any:
    """bm25s, without its lines about each step."""
    logging.getLogger("bm25s").setLevel(logging.WARNING)
    return need("bm25s", "the BM25 library bm25s")
