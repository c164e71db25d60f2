"""Keeps the breakpoints of a pipeline file from one session to the next, in the user's state folder."""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path

import msgspec

from workbench.engine.breakpoints import Breakpoint, KeptBreakpoints
from workbench.pipeline.model import Pipeline
from workbench.pipeline.outline import Outline, outline_of


class BreakpointsFile:
    """One file per pipeline, with the outline of the pipeline as it was: breakpoints move with their steps."""

    def __init__(self, state_folder: Path, pipeline: Pipeline) -> None:
        self._pipeline = str(pipeline.file.resolve())
        self._outline = outline_of(pipeline)
        name = hashlib.blake2b(self._pipeline.encode(), digest_size=8).hexdigest()
        self.path = state_folder / "breakpoints" / f"{pipeline.stem}-{name}.json"

    def follow(self, pipeline: Pipeline) -> None:
        """The same file, read anew: what is written from here on goes by its steps."""
        self._outline = outline_of(pipeline)

    def read(self) -> tuple[KeptBreakpoints, tuple[Breakpoint, ...]]:
        """What was kept, moved to where its steps are now; and the breakpoints whose steps are gone.

        A file that can't be read counts as empty.
        """
        try:
            content = msgspec.json.decode(self.path.read_bytes())
            kept = msgspec.convert(content["kept"], KeptBreakpoints)
            outline = msgspec.convert(content["outline"], Outline)
        except (OSError, KeyError, TypeError, msgspec.MsgspecError, UnicodeDecodeError):
            return KeptBreakpoints(), ()
        return kept.moved(outline, self._outline)

    def write(self, kept: KeptBreakpoints) -> None:
        """Keep these in the place of those before; nothing is left where there are none. Raises ``OSError``."""
        if kept == KeptBreakpoints():
            self.path.unlink(missing_ok=True)
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        content = {"pipeline": self._pipeline, "outline": self._outline, "kept": kept}
        draft = self.path.with_suffix(f".{os.getpid()}")
        try:
            with open(os.open(draft, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "wb") as file:
                file.write(msgspec.json.encode(content))
            draft.replace(self.path)
        finally:
            with contextlib.suppress(OSError):
                draft.unlink(missing_ok=True)
