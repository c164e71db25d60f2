"""Text from outside on its way to the screen: nothing in it is ever markup or a control sequence."""

from __future__ import annotations

import re

from rich.cells import cell_len, set_cell_size
from textual.content import Content

ELLIPSIS = "…"
_STAND_IN = "␦"
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 without newline and tab, DEL, C1
    "\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"  # zero width, bidi
    "\ufe00-\ufe0f\U000e0000-\U000e0fff"  # variation selectors, tags
    "\ud800-\udfff]"  # lone surrogates
)
_VARIATION_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")


def visible(text: str) -> str:
    """The text with a visible stand-in for whatever could move the cursor, hide or reorder letters, or ring the bell.

    Every text that was not written in this package passes here. Newlines and tabs stay. Variation selectors are left
    out: they only choose a glyph, and terminals disagree about its width.
    """
    return _UNSAFE.sub(lambda found: _stand_in(found[0]), text)


def content(text: str) -> Content:
    """Text for a widget of Textual: shown letter by letter, never read as markup."""
    return Content(visible(text))


def one_line(text: str) -> str:
    """The text on one line: its newlines and tabs become stand-ins too."""
    return visible(text).replace("\n", "␊").replace("\t", "␉")


def fit(text: str, cells: int) -> str:
    """One line cut to a width on the screen, with an ellipsis; no letter is split. The text must be visible already."""
    if cells <= 0:
        return ""
    if len(text) <= cells and cell_len(text) <= cells:
        return text
    return set_cell_size(text[: 4 * cells], cells - 1).rstrip(" ") + ELLIPSIS


def column(text: str, cells: int) -> str:
    """A cell of a table: one line, cut or filled up to exactly this width."""
    cut = fit(one_line(text[: 4 * cells]), cells)
    return cut + " " * (cells - cell_len(cut))


def _stand_in(letter: str) -> str:
    code = ord(letter)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if 0xD800 <= code <= 0xDFFF:
        return "\ufffd"
    return "" if _VARIATION_SELECTORS.match(letter) else _STAND_IN
