"""Themes: those that ship, and files that are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.tui.themes import load_themes


def test_the_themes_that_ship() -> None:
    themes, complaints = load_themes()
    assert not complaints
    assert {theme.dark for theme in themes} == {True, False}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("name: [", "can't be read"),
        ("- a", "a theme is a map with name, primary"),
        ("name: x\nprimary: blu-ish", "primary is no colour: 'blu-ish'"),
        ("name: x\nprimary: red\nsize: 3", "no theme has size"),
        ("name: x\nprimary: red\ndark: maybe", "dark must be true or false"),
        ("name: x\nprimary: red\nvariables: [1]", "variables must be a map"),
    ],
)
def test_a_bad_file_is_a_complaint(tmp_path: Path, text: str, complaint: str) -> None:
    (tmp_path / "bad.yaml").write_text(text)
    (tmp_path / "good.yaml").write_text("name: good\nprimary: red")
    themes, complaints = load_themes(tmp_path)
    assert [theme.name for theme in themes] == ["good"]
    assert complaint in complaints[0]
