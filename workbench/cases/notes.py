"""Marks and notes of items: kept beside the file of a run, never in it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from workbench.cases.saved_run import SavedRun

FORMAT = 1
SUFFIX = ".notes"


class NotesUnreadable(Exception):
    """The file of the notes is not what this program writes; it is left as it is. ``str()`` says what to do."""


class Note(Struct, frozen=True):
    """What a reader left at an item."""

    is_marked: bool = False
    text: str = ""

    def __bool__(self) -> bool:
        return self.is_marked or bool(self.text)


NOTHING = Note()


class Notes:
    """Of one run. Each change is written at once, over what the file holds by then of other items and runs."""

    def __init__(self, run: SavedRun) -> None:
        """Raises ``NotesUnreadable``."""
        self.file = run.file.with_name(run.file.name + SUFFIX)
        self._key = str(run.key)
        self._notes = self._read(self._content())

    def of(self, item: int) -> Note:
        return self._notes.get(item, NOTHING)

    @property
    def marked(self) -> list[int]:
        return sorted(item for item, note in self._notes.items() if note.is_marked)

    @property
    def by_item(self) -> Mapping[int, Note]:
        return self._notes

    def mark(self, item: int, is_marked: bool) -> None:
        """Raises ``OSError``, ``NotesUnreadable``."""
        self._keep(item, replace(self.of(item), is_marked=is_marked))

    def write(self, item: int, text: str) -> None:
        """Raises ``OSError``, ``NotesUnreadable``."""
        self._keep(item, replace(self.of(item), text=text))

    def _keep(self, item: int, note: Note) -> None:
        content = self._content()
        runs = content.setdefault("runs", {})
        entries = {**runs.get(self._key, {}), str(item): {"marked": note.is_marked, "note": note.text}}
        runs[self._key] = {number: entry for number, entry in entries.items() if entry["marked"] or entry["note"]}
        beside = self.file.with_name(f"{self.file.name}.{os.getpid()}")
        beside.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        beside.replace(self.file)
        self._notes = self._read(content)

    def _content(self) -> dict[str, Any]:
        try:
            content = json.loads(self.file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {"format": FORMAT, "runs": {}}
        except (OSError, ValueError) as error:
            raise NotesUnreadable(f"the notes can't be read ({error}): move {self.file} away to begin anew") from None
        if not _is_ours(content):
            raise NotesUnreadable(f"no notes of this version of ragwb: move {self.file} away to begin anew")
        return dict(content)

    def _read(self, content: Mapping[str, Any]) -> dict[int, Note]:
        entries = content["runs"].get(self._key, {}).items()
        return {int(item): Note(entry["marked"], entry["note"]) for item, entry in entries}


def _is_ours(content: Any) -> bool:
    if not isinstance(content, dict) or content.get("format") != FORMAT or not isinstance(content.get("runs"), dict):
        return False
    return all(
        isinstance(entries, dict) and all(item.isdigit() and _is_entry(entry) for item, entry in entries.items())
        for entries in content["runs"].values()
    )


def _is_entry(entry: Any) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("marked"), bool) and isinstance(entry.get("note"), str)
