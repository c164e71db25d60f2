"""Whole numbers written in digits, in English words or in Chinese numerals."""

from __future__ import annotations

import re

_ONES = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
]  # fmt: skip
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_SMALL = {word: value for value, word in enumerate(_ONES)} | {word: 10 * n for n, word in enumerate(_TENS, 2)}
_LARGE = {"thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_CHINESE_DIGITS = {letter: value for value, letter in enumerate("〇一二三四五六七八九")} | {"零": 0, "两": 2}
_CHINESE_UNITS = {"十": 10, "百": 100, "千": 1000}
_CHINESE_LARGE = {"万": 10_000, "亿": 100_000_000}


def as_number(text: str) -> int | None:
    """``forty-two``, ``1,200``, ``一百二十``, as a number; None where the text is anything else."""
    plain = text.strip().rstrip(".。").strip().lower()
    if re.fullmatch(r"\d{1,3}(,\d{3})+|\d{1,15}", plain):
        return int(plain.replace(",", ""))
    return _english(re.split(r"[\s-]+", plain)) if plain.isascii() else _chinese(plain)


def _english(words: list[str]) -> int | None:
    total = part = 0
    for word in words:
        if word in _SMALL:
            part += _SMALL[word]
        elif word == "hundred" and part:
            part *= 100
        elif word in _LARGE and part:
            total, part = total + part * _LARGE[word], 0
        elif word != "and" or not (part or total):
            return None
    return total + part


def _chinese(letters: str) -> int | None:
    if all(letter in _CHINESE_DIGITS for letter in letters):
        return int("".join(str(_CHINESE_DIGITS[letter]) for letter in letters))
    total = part = digit = 0
    for letter in letters:
        if letter in _CHINESE_DIGITS:
            digit = _CHINESE_DIGITS[letter]
        elif letter in _CHINESE_UNITS:
            part, digit = part + (digit or 1) * _CHINESE_UNITS[letter], 0
        elif letter in _CHINESE_LARGE:
            total, part, digit = total + (part + digit) * _CHINESE_LARGE[letter], 0, 0
        else:
            return None
    return total + part + digit
