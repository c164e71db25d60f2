"""What a saved file was made from: kept beside it as data, and checked before the file is used again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fastmcp.exceptions import ToolError
from passages import Corpus, Stamp

from workbench.mcp.json_lines import write_whole


class OriginError(ToolError):
    """A saved file is stale or foreign. ``str()`` says in what, and the way out."""


@dataclass(frozen=True)
class Origin:
    """The corpus' fingerprint, and the settings that shape what is saved: the model, or the tokenizer and k1, b."""

    corpus: str
    settings: Mapping[str, Any]
    size: int
    mtime_ns: int
    """Of the corpus file, so that one that has not been touched need not be read again."""
    passages: int = 0
    """How many there were."""

    @classmethod
    def of(cls, corpus: Corpus, settings: Mapping[str, Any]) -> Origin:
        """What is made of this corpus now."""
        return cls(corpus.fingerprint, dict(settings), corpus.stamp.size, corpus.stamp.mtime_ns, len(corpus))

    @property
    def stamp(self) -> Stamp:
        """The corpus file's size and time when this was written."""
        return Stamp(self.size, self.mtime_ns)


def read_origin(path: Path) -> Origin | None:
    """The origin of a saved file or folder; None where there is none that can be read."""
    try:
        return Origin(**json.loads(origin_file(path).read_text(encoding="utf-8")))
    except (FileNotFoundError, NotADirectoryError, TypeError, ValueError):
        return None


def check_place(path: Path) -> None:
    """Before a file is made at ``path``: raises ``OriginError`` if its origin would take a file of the user's away."""
    file = origin_file(path)
    if file.exists() and read_origin(path) is None:
        raise OriginError(
            f"{file} is there, and it was not written here: what {path.name} is made from would be kept under that "
            "name. Choose another path, or move the file away"
        )


def write_origin(path: Path, origin: Origin) -> None:
    """Keep it beside the file."""
    write_whole(origin_file(path), lambda part: part.write_text(json.dumps(asdict(origin)), encoding="utf-8"))


def check_origin(path: Path, corpus: Corpus, settings: Mapping[str, Any], remake: str) -> None:
    """Raises ``OriginError`` if the file at ``path`` was not made of this corpus with these settings."""
    kept = read_origin(path)
    if kept is None:
        name = origin_file(path).name
        raise OriginError(f"{path}: {name} beside it, which says what it was made from, can't be read; {remake}")
    corpus.trust(kept.corpus, kept.stamp)
    differing = [
        f"another {name} ({kept.settings.get(name)}, now {value})"
        for name, value in settings.items()
        if kept.settings.get(name) != value
    ]
    if kept.corpus != corpus.fingerprint:
        counts = f"{kept.passages} passages, now {len(corpus)}" if kept.passages != len(corpus) else "other passages"
        differing.append(f"another corpus than {corpus.path} is now ({counts})")
    if differing:
        raise OriginError(f"{path} was made with {' and '.join(differing)}: its results would be wrong. {remake}")


def origin_file(path: Path) -> Path:
    """Where the origin of a saved file or folder is."""
    return path.with_name(f"{path.name}.json")
