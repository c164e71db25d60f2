"""Search queries that a model wrote between tags."""

from __future__ import annotations

import re

NO_QUERY = "There is no query."
"""Stands where an answer held no query. The retriever server searches nothing for it."""

SEARCH = ("<search>", "</search>")
R1_SEARCHER = ("<|begin_of_query|>", "<|end_of_query|>")


def last_query(answer: str, tags: tuple[str, str]) -> str:
    """The text after the last opening tag, up to its closing tag or the end; a ``?`` is added if it has none.

    Tags count in upper and lower case. Without a tag, or with nothing in it: ``NO_QUERY``.
    """
    opening, closing = (re.escape(tag) for tag in tags)
    query = re.split(opening, answer, flags=re.IGNORECASE)[1:][-1:]
    text = re.split(closing, query[0], maxsplit=1, flags=re.IGNORECASE)[0].strip() if query else ""
    if not text:
        return NO_QUERY
    return text if text.endswith(("?", "？")) else f"{text}?"
