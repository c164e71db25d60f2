"""Values that leave the screen, and come back changed."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from textual.app import App

from tests.tui.support import LOOP, Opened
from workbench.tui.typed import Mistyped, value_of

Open = Callable[..., Opened]


@pytest.fixture(autouse=True)
def standing_back(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """A test has no terminal that could be handed over; the folder of the test is where one works."""
    handed: list[str] = []

    @contextlib.contextmanager
    def suspend(app: App[Any]) -> Iterator[None]:
        handed.append("out")
        yield
        handed.append("back")

    monkeypatch.setattr(App, "suspend", suspend)
    monkeypatch.setattr("workbench.tui.edit_dialog.CHECK_SECONDS", 0)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("VISUAL", raising=False)
    return handed


def program(folder: Path, text: str) -> str:
    file = folder / "program.py"
    file.write_text(f"import sys\nfrom pathlib import Path\nfile = Path(sys.argv[1])\n{text}\n")
    return f"{sys.executable} {file}"


async def test_a_value_in_the_pager_is_harmless(
    open_pipeline: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, standing_back: list[str]
) -> None:
    monkeypatch.setenv("PAGER", program(tmp_path, "Path('read').write_text(file.read_text())"))
    opened = open_pipeline(LOOP)
    opened.tools.lab.items = ["a\x1b[2Jb"]
    async with opened.running() as keys:
        await keys.press("n", "3", "right", "down", "O")
        assert (tmp_path / "read").read_text() == "a␛[2Jb"
        assert standing_back == ["out", "back"]


async def test_a_pager_that_is_not_there(open_pipeline: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        await keys.press("n", "3", "O")
        assert any("set $PAGER" in one.message for one in opened.app._notifications)


async def test_saving_never_overwrites_unasked(open_pipeline: Open, tmp_path: Path) -> None:
    opened = open_pipeline(LOOP)
    file = tmp_path / "q_ls.json"
    async with opened.running() as keys:
        await keys.press("n", "3", "ctrl+s")
        assert "Save q_ls to" in keys.text()
        await keys.press("enter")
        await keys.until(file.is_file)
        assert json.loads(file.read_text()) == ["fig", "apple", "kiwi", "date"]
        file.write_text("mine")
        await keys.press("ctrl+s", "enter")
        assert "Overwrite it?" in keys.text()
        await keys.press("n")
        assert "is left as it is" in keys.text()
        assert file.read_text() == "mine"
        await keys.press("enter", "y")
        await keys.until(lambda: file.read_text() != "mine")


async def test_saving_where_that_is_not_possible(open_pipeline: Open, tmp_path: Path) -> None:
    opened = open_pipeline(LOOP)
    (tmp_path / "file").write_text("")
    async with opened.running() as keys:
        await keys.press("n", "3", "ctrl+s", "ctrl+u", *"file/x", "enter")
        await keys.until(lambda: "can't be written: File exists" in keys.text())


async def test_editing_in_the_editor(open_pipeline: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDITOR", program(tmp_path, "file.write_text(file.read_text().replace('fig', 'plum'))"))
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        await keys.press("n", "3", "ctrl+e")
        await keys.until(lambda: opened.debugger.state.pool.variables["q_ls"].value[0] == "plum")
        await keys.settle()
        assert opened.app.screen is opened.screen


async def test_what_the_editor_left_is_wrong(
    open_pipeline: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDITOR", program(tmp_path, "file.write_text('- a\\n- [b')"))
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        await keys.press("n", "3", "e", "ctrl+e")
        await keys.until(lambda: "line 3, column" in keys.text())


async def test_checked_as_one_types(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        await keys.press("n", "3", "e", "ctrl+a", *"- a", "enter", *"- {b")
        await keys.until(lambda: "line 3, column" in keys.text())
        await keys.press("backspace", "backspace", *"b", "enter", *"- c", "enter", *"- d")
        await keys.until(lambda: "line 3, column" not in keys.text())
        await keys.press("ctrl+s")
        assert opened.debugger.state.pool.variables["q_ls"].value == ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": [1, null]}', {"a": [1, None]}),
        ("a: [1, null]", {"a": [1, None]}),
        ("- yes\n- 'no'", [True, "no"]),
        ("2020-01-01", "2020-01-01"),
        ("[a, b]", ["a", "b"]),
    ],
)
def test_json_and_yaml(text: str, value: Any) -> None:
    assert value_of(text) == value


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"a": 1', "line 1, column 8"),
        ("a:\n  - b\n c: d", "line 3, column 2"),
        ("", "there is nothing"),
        ("a: &x 1\n- b", "line 2, column 1"),
        ("[" * 5000, "nested"),
        ("a: !!python/object:os.system x", "line 1, column 4"),
        ("\x00", "control characters"),
    ],
)
def test_what_is_neither(text: str, told: str) -> None:
    with pytest.raises(Mistyped, match=told):
        value_of(text)
