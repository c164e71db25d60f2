"""How many tokens a text has, guessed by its letters: which tokenizer a model has is not known here."""

from __future__ import annotations

import re

_COUNTED = 100_000
"""Characters that are looked at; what comes after them is taken to be alike."""
_WIDE = "[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]"  # compiled when needed: it takes milliseconds
_LETTERS_TO_A_TOKEN = 4


def about_tokens(text: str, count: int | None = None) -> int:
    """One token to four letters, and one to each character of Chinese, Japanese or Korean; two digits are exact.

    ``count`` is the number of characters of all that the text is a sample of.
    """
    sample, count = text[:_COUNTED], len(text) if count is None else count
    if not sample:
        return 0
    wide = 0 if sample.isascii() else len(re.findall(_WIDE, sample))
    tokens = (wide + (len(sample) - wide) / _LETTERS_TO_A_TOKEN) * count / len(sample)
    digits = max(0, len(str(int(tokens))) - 2)
    return max(1, int(round(tokens, -digits)))
