"""Text and Markdown, in whatever encoding."""

from __future__ import annotations

import codecs
from pathlib import Path

from documents import DocumentError, Reading
from documents.tidy import tidied

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CHINESE = 0.9
"""Share of the letters beyond ASCII that must be common Chinese for a text to be taken as GBK."""

_STRAY = 0.25
"""Share of NUL bytes below which they are strays in plain text: UTF-16 has one for every letter of it."""


def read(path: Path) -> Reading:
    """Raises ``DocumentError`` for what is no text."""
    data = path.read_bytes()
    text, encoding = decoded(data, path)
    plain = encoding in ("utf-8", "ascii", *(name for _, name in _MARKS))
    return Reading(tidied(text), warnings=[] if plain else [f"read as {encoding}"])


def decoded(data: bytes, path: Path) -> tuple[str, str]:
    """The text and its encoding: by its mark, else UTF-8 if it is that, else GBK if that is Chinese, else a guess.

    A few NULs in plain ASCII are strays, and left out.
    """
    for mark, name in _MARKS:
        if data.startswith(mark):
            try:
                return data.decode(name), name
            except UnicodeDecodeError as error:
                raise DocumentError(f"{path}: begins as {name}, but is damaged ({error.reason})") from error
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        at = error.start
    else:
        if "\x00" not in text:
            return text, "utf-8"
        at = text.index("\x00")
        if text.isascii() and text.count("\x00") < _STRAY * len(text):
            return text.replace("\x00", ""), "utf-8, NUL bytes left out"
    if _is_chinese(data):
        return data.decode("gb18030"), "gb18030"
    from charset_normalizer import from_bytes

    matches = from_bytes(data)
    best = matches.best()
    if best is None:
        raise DocumentError(f"{path}: no text in an encoding that is known (not UTF-8 from byte {at} on)")
    # The Western encoding before its likes, which differ in a letter or two, where it reads as well.
    western = (match for match in matches if match.encoding == "cp1252" and match.chaos <= best.chaos)
    guess = next(western, best)
    return str(guess), guess.encoding


def _is_chinese(data: bytes) -> bool:
    try:
        text = data.decode("gb18030")
    except UnicodeDecodeError:
        return False
    beyond = [letter for letter in text if letter > "\x7f"]
    # The common characters of GB 2312's first level; what is not Chinese decodes to rare ones.
    common = sum(_is_common(letter) for letter in beyond)
    return bool(beyond) and common >= _CHINESE * len(beyond)


def _is_common(letter: str) -> bool:
    try:
        code = letter.encode("gb2312")
    except UnicodeEncodeError:
        return False
    return 0xB0 <= code[0] <= 0xD7 or 0xA1 <= code[0] <= 0xA3
