"""Themes: those that ship, and files that are none."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.tui.support import LOOP, Opened
from workbench.pipeline.config import user_file
from workbench.pipeline.user_folders import state_folder
from workbench.tui.remembered import FILE, remembered
from workbench.tui.themes import all_themes, load_themes

Open = Callable[..., Opened]


@pytest.fixture
def own_themes() -> Iterator[Path]:
    """The folder for a user's own themes; gone again after the test."""
    folder = user_file().parent / "themes"
    folder.mkdir(parents=True)
    yield folder
    shutil.rmtree(folder)


def test_the_themes_that_ship() -> None:
    themes, complaints = all_themes()
    assert not complaints
    assert [theme.name for theme in themes] == ["ragwb-dark", "ragwb-high-contrast", "ragwb-light", "ragwb-terminal"]


async def test_a_theme_is_shown_at_once_and_kept(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        await keys.press("t", "down")
        assert (opened.app.theme, remembered("theme")) == ("ragwb-high-contrast", None)
        await keys.press("enter")
        await keys.until(lambda: remembered("theme") == "ragwb-high-contrast")
    again = open_pipeline(LOOP)
    async with again.running():
        assert again.app.theme == "ragwb-high-contrast"


@pytest.mark.parametrize("text", ["[", "[1]", '{"theme": 3}', '{"theme": "gone"}'])
async def test_what_is_remembered_wrongly_counts_for_nothing(open_pipeline: Open, text: str) -> None:
    state_folder().mkdir(parents=True, exist_ok=True)
    (state_folder() / FILE).write_text(text)
    opened = open_pipeline(LOOP)
    async with opened.running():
        assert opened.app.theme == "ragwb-dark"


async def test_a_theme_of_ones_own(open_pipeline: Open, own_themes: Path) -> None:
    (own_themes / "sea.yaml").write_text("name: sea\nprimary: '#4488aa'\n")
    (own_themes / "torn.yaml").write_text("name: torn\nprimary: [")
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        [told] = [one.message for one in opened.app._notifications if "torn.yaml" in one.message]
        assert "can't be read" in told
        await keys.press("t", "end")
        assert "sea" in keys.text()
        assert opened.app.theme == "sea"


async def test_without_colours(open_pipeline: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        tree = opened.screen.query_one("#pipeline")
        row = next(strip for strip in tree.render_lines(tree.size.region) if "lab.get_items" in strip.text)
        assert any(segment.style.reverse for segment in row if segment.style)
        assert "┏" in keys.text()


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
