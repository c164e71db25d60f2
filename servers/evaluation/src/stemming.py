"""The stem of an English word by the algorithm of M. F. Porter, "An algorithm for suffix stripping" (1980).

``[C](VC)^m[V]`` is the shape of every word; its measure m counts the pairs of vowels and consonants.
"""

from __future__ import annotations

import re

_STEP_2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "abli": "able",
    "alli": "al", "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate",
    "alism": "al", "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive",
    "biliti": "ble",
}  # fmt: skip
_STEP_3 = {
    "icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": "",
}  # fmt: skip
_STEP_4 = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate",
    "iti", "ous", "ive", "ize",
)  # fmt: skip


def stem(word: str) -> str:
    """The stem of a lower-case word; short words and those with other letters than a-z stay as they are."""
    if len(word) <= 3 or not (word.isascii() and word.isalpha()):
        return word
    word = _past_and_gerund(_plural(word))
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    word = _replaced(_replaced(word, _STEP_2), _STEP_3)
    return _final_letters(_last_suffix(word))


def _plural(word: str) -> str:
    for suffix, short in (("sses", "ss"), ("ies", "i"), ("ss", "ss"), ("s", "")):
        if word.endswith(suffix):
            return word.removesuffix(suffix) + short
    return word


def _past_and_gerund(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        base = word.removesuffix(suffix)
        if base != word and _has_vowel(base):
            return _mended(base)
    return word


def _mended(base: str) -> str:
    """What is left when -ed or -ing is gone: hop(p), fil(e), conflat(e)."""
    if base.endswith(("at", "bl", "iz")):
        return base + "e"
    if len(base) > 1 and base[-1] == base[-2] and _shape(base)[-1] == "c" and base[-1] not in "lsz":
        return base[:-1]
    return base + "e" if _measure(base) == 1 and _is_short(base) else base


def _replaced(word: str, suffixes: dict[str, str]) -> str:
    """The longest suffix of the table replaced, if what stands before it has a measure above 0."""
    for suffix in sorted(suffixes, key=len, reverse=True):
        if word.endswith(suffix):
            base = word.removesuffix(suffix)
            return base + suffixes[suffix] if _measure(base) > 0 else word
    return word


def _last_suffix(word: str) -> str:
    for suffix in sorted(_STEP_4, key=len, reverse=True):
        if word.endswith(suffix):
            base = word.removesuffix(suffix)
            cut = _measure(base) > 1 and (suffix != "ion" or base.endswith(("s", "t")))
            return base if cut else word
    return word


def _final_letters(word: str) -> str:
    if word.endswith("e"):
        measure = _measure(word[:-1])
        if measure > 1 or (measure == 1 and not _is_short(word[:-1])):
            word = word[:-1]
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word


def _shape(word: str) -> str:
    """``c`` and ``v`` for each letter; y is a vowel after a consonant."""
    shape = ""
    for letter in word:
        vowel = letter in "aeiou" or (letter == "y" and shape.endswith("c"))
        shape += "v" if vowel else "c"
    return shape


def _measure(word: str) -> int:
    return len(re.findall("v+c+", _shape(word)))


def _has_vowel(word: str) -> bool:
    return "v" in _shape(word)


def _is_short(word: str) -> bool:
    """Ends consonant, vowel, consonant other than w, x, y."""
    return _shape(word)[-3:] == "cvc" and word[-1] not in "wxy"
