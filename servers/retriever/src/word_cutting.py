"""What cuts texts into the words that BM25 counts: one way for all languages, and jieba for Chinese."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence

from fastmcp.exceptions import ToolError

from workbench.cases.keywords import tokenize
from workbench.mcp.backends import is_installed, need

Cut = Callable[[str], list[str]]

CHINESE = frozenset({"zh", "zh-cn", "zh-tw", "zh-hans", "zh-hant", "cn", "chinese"})
_ASCII_WORD = re.compile(r"[a-z0-9]+")
_WORD = re.compile(r"\w")


def words(text: str) -> list[str]:
    """Lower-case words; a run of Chinese, Japanese or Korean gives its characters and pairs of characters."""
    if text.isascii():  # the same tokens, several times as fast
        return _ASCII_WORD.findall(text.lower().replace("_", " "))
    return tokenize(text)


def jieba_words() -> Cut:
    """Words by jieba's dictionary, long ones with their parts too (its mode for search engines)."""
    segment = need("rjieba", "the tokenizer jieba", "ragwb[chinese]").Jieba().cut_for_search

    def cut(text: str) -> list[str]:
        plain = unicodedata.normalize("NFKC", text).lower()
        return [word for word in segment(plain) if _WORD.search(word)]

    return cut


def cutter(tokenizer: str, language: str, stopwords: Sequence[str]) -> tuple[str, Cut]:
    """The tokenizer's full name and itself; ``auto`` is jieba for Chinese where it is installed, else ``words``.

    Raises ``ToolError`` for an unknown name. What is left out by ``stopwords`` is part of the name: an index of
    other words is another index.
    """
    name = tokenizer or "auto"
    if name == "auto":
        name = "jieba" if language.lower() in CHINESE and is_installed("rjieba") else "words"
    if name not in ("words", "jieba"):
        raise ToolError(f"unknown retriever.backend_configs.bm25.tokenizer {tokenizer!r}; use auto, words or jieba")
    cut = jieba_words() if name == "jieba" else words
    left_out = frozenset(str(word).lower() for word in stopwords)
    if not left_out:
        return name, cut
    return f"{name} without {' '.join(sorted(left_out))}", lambda text: [w for w in cut(text) if w not in left_out]
