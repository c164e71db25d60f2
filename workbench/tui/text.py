"""Text from outside on its way to the screen: nothing in it is ever markup or a control sequence."""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size
from textual.content import Content

from workbench.engine.visible import one_line, visible

__all__ = ["brief", "column", "content", "fit", "one_line", "visible"]

ELLIPSIS = "…"
_BRIEF_CHARACTERS = 600


def content(text: str) -> Content:
    """Text for a widget of Textual: shown character by character, never read as markup."""
    return Content(visible(text))


def fit(text: str, cells: int) -> str:
    """One line cut to a width on the screen, with an ellipsis; no character is split. It must be visible already."""
    if cells <= 0:
        return ""
    if len(text) <= cells and cell_len(text) <= cells:
        return text
    return set_cell_size(text[: 4 * cells], cells - 1).rstrip(" ") + ELLIPSIS


def brief(text: str) -> str:
    """Text for a notification: the beginning of a long one, since a notification covers what it is laid over."""
    return visible(text if len(text) <= _BRIEF_CHARACTERS else text[:_BRIEF_CHARACTERS] + ELLIPSIS)


def column(text: str, cells: int) -> str:
    """A cell of a table: one line, cut or filled up to exactly this width."""
    cut = fit(one_line(text[: 4 * cells]), cells)
    return cut + " " * (cells - cell_len(cut))
