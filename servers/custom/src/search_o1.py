"""Search-o1: what a model asks for while it reasons, and what it was told, round by round."""

from __future__ import annotations

import re
from collections.abc import Sequence

PAD = "<PAD>"
"""Stands in an item's history until something is in it."""
BEGIN, END = "<|begin_search_query|>", "<|end_search_query|>"
_QUERY = re.compile(re.escape(BEGIN) + "(.*?)" + re.escape(END), re.DOTALL)
_INFORMATION = re.compile(r"\*\*Final Information\*\*\s*:?\s*")


def asked_query(answer: str) -> str:
    """The last query between the tags, in one line and without quotes around it; empty where there is none."""
    queries = _QUERY.findall(answer)
    return " ".join(queries[-1].split()).strip("\"'“”‘’ ") if queries else ""


def is_cut_off(answer: str) -> bool:
    """Whether a query was begun and never ended."""
    return answer.rfind(BEGIN) > answer.rfind(END)


def reasoning(answer: str) -> str:
    """What was said before the first query."""
    return answer.partition(BEGIN)[0]


def final_information(answer: str) -> str:
    """What the documents were found to say, under its heading; empty where the model did not come to it."""
    found = _INFORMATION.search(answer)
    return f"**Final Information**\n{answer[found.end() :].strip()}" if found is not None else ""


def appended(history: Sequence[str], new: str) -> list[str]:
    """A history with one more entry; the first one takes the place of ``PAD``. Nothing is added where ``new`` is none.

    ``new`` is none where it is empty: an item that has left the loop is asked nothing.
    """
    kept = [entry for entry in history if entry != PAD]
    if not new:
        return list(history)
    return [*kept, new]
