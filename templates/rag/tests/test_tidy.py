"""The server's own functions, tested as functions."""

from __future__ import annotations

import pytest
from tidy import first_sentence, shortened


@pytest.mark.parametrize(
    ("answer", "short"),
    [
        (" Tomas Wray. He shows Saturn.", "Tomas Wray"),
        ("Mondays\nand holidays", "Mondays"),
        ("魏明。每逢星期四", "魏明"),
        ("one two three four", "one two three"),
        ("", ""),
    ],
)
def test_an_answer_is_made_short(answer: str, short: str) -> None:
    assert shortened(answer, 3) == short


def test_there_is_one_for_each_answer() -> None:
    assert first_sentence(["Orange.", "1887"], max_words=5) == {"pred_ls": ["Orange", "1887"]}
