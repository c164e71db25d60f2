"""Images that values name: shown where the terminal can, else told of by name and size."""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from textual.app import App, ComposeResult
from textual.containers import Container
from textual.widget import Widget

from workbench.cases.saved_run import SavedRun
from workbench.engine.values import is_list
from workbench.tui.action_screen import ActionScreen
from workbench.tui.actions import VIEWER
from workbench.tui.bars import Bar
from workbench.tui.previews import byte_size
from workbench.tui.rows import Part, RowsView
from workbench.tui.text_view import TextView

_SUFFIXES = {".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp"}
_LONGEST = 1_000
_WIDGETS = "textual_image.widget"
_LOOKED_AT = 20
"""Entries of each list that tell whether a run names images."""
LARGEST = 50_000_000
"""Bytes; a larger picture is told of, and not read."""


def image_file(value: Any, folder: Path) -> Path | None:
    """The image that a text names, from a run's folder, the one above it, or here; None where it names none."""
    if not isinstance(value, str) or len(value) > _LONGEST or Path(value).suffix.lower() not in _SUFFIXES:
        return None
    places = (Path(value).expanduser(), *(base / value for base in (folder, folder.parent, Path.cwd())))
    try:
        return next((place for place in places if place.is_file()), None)
    except (OSError, ValueError, RuntimeError):
        return None


def names_images(runs: Iterable[SavedRun]) -> bool:
    """Whether some value of the runs names an image, as far as the first entries of lists tell."""
    values = (value for run in runs for visit in run.visits for value in visit.saved.values())
    return any(Path(text[:_LONGEST]).suffix.lower() in _SUFFIXES for value in values for text in _texts(value))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for entry in value.values():
            yield from _texts(entry)
    elif is_list(value):
        for entry in value[:_LOOKED_AT]:
            yield from _texts(entry)


def about_image(file: Path) -> tuple[str, bool]:
    """An image in words, and whether it can be read: ``kiln.png, 640 x 480, PNG, 12.3 kB``."""
    size = byte_size(file.stat().st_size)
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError:
        return f"{file.name}, {size}", False
    try:
        with Image.open(file) as image:
            words = f"{file.name}, {image.width} x {image.height}, {image.format}, {size}"
            return words, file.stat().st_size <= LARGEST
    except (OSError, ValueError, UnidentifiedImageError, Image.DecompressionBombError):
        return f"{file.name}, {size}, no image that can be read", False


class ImageViewer(ActionScreen[None]):
    """One image over the whole screen; without `ragwb[images]` what it is called, and how large it is."""

    ACTIONS = VIEWER

    def __init__(self, file: Path) -> None:
        super().__init__()
        self._file = file
        self._words, self._is_readable = about_image(file)
        self._text = TextView(f"{self._words}\n{file}")

    def compose(self) -> ComposeResult:
        yield Bar(id="viewer-title")
        shown = _picture(self._file) if self._is_readable else None
        if shown is not None:
            yield Container(shown, id="picture")
            self._text.display = False
        yield self._text
        yield from self.compose_foot()

    def on_mount(self) -> None:
        self.query_one("#viewer-title", Bar).show([Part(f" {self._words}", "name")])
        self._text.focus()

    def rows_in_front(self) -> RowsView:
        return self._text

    def value_at_cursor(self) -> tuple[str, Any]:
        return self._file.name, str(self._file)

    def action_leave(self) -> None:
        self.app.pop_screen()


def look_at_image(app: App[Any], file: Path) -> None:
    app.push_screen(ImageViewer(file))


def ask_the_terminal() -> None:
    """Learn how the terminal shows pictures; it can be asked only before the screen is there."""
    with contextlib.suppress(ImportError):
        importlib.import_module(_WIDGETS)


def _picture(file: Path) -> Widget | None:
    """A widget with the picture; None where the terminal was not asked."""
    widgets = sys.modules.get(_WIDGETS)
    if widgets is None:
        return None
    widget: Widget = widgets.Image(str(file))
    return widget
