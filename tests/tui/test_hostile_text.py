"""Text from outside is shown as it is: it runs nothing, colours nothing, and reaches no terminal as control."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.cells import cell_len

from tests.tui.support import Opened
from tests.tui.test_case_studies import settled
from workbench.cases.opening import open_runs
from workbench.tui.app import ReplayApp
from workbench.tui.desk import Desk
from workbench.tui.edit_dialog import editable
from workbench.tui.previews import preview
from workbench.tui.text import column, content, fit, one_line, visible

Open = Callable[..., Opened]

HOSTILE = ["[@click=app.quit]x[/]", "[/]", "\x1b]52;c;aGk=\x07", "\x1b[2J\x9b2J", "a\u202eb\u200bc", "[red]r[/red]"]
SHOWN = ["[@click=app.quit]x[/]", "[/]", "␛]52;c;aGk=␇", "␛[2J␦2J", "a␦b␦c", "[red]r[/red]"]


@pytest.mark.parametrize(("text", "shown"), zip(HOSTILE, SHOWN, strict=True))
def test_stand_ins(text: str, shown: str) -> None:
    assert visible(text) == shown
    assert content(text).plain == shown
    assert not content(text).spans


def test_newlines_and_tabs() -> None:
    assert visible("a\n\tb\r") == "a\n\tb␍"
    assert one_line("a\n\tb") == "a␊␉b"


def test_lone_surrogates_and_variation_selectors() -> None:
    assert visible("\ud800 ❤\ufe0f") == "\ufffd ❤"


@pytest.mark.parametrize("text", ["北灯塔的看守人是谁", "e\u0301a\u0301o\u0301", "👩🌾👩🌾", "ｆｕｌｌ", "ab"])
@pytest.mark.parametrize("cells", range(1, 12))
def test_columns_line_up_and_characters_stay_whole(text: str, cells: int) -> None:
    assert cell_len(column(text, cells)) == cells
    cut = fit(text, cells)
    assert cell_len(cut) <= cells
    assert text.startswith(cut.removesuffix("…"))
    assert not re.match("[\u0300-\u036f]", text[len(cut.removesuffix("…")) :] or " ")


def test_previews_look_only_at_what_fits() -> None:
    class Endless(list):  # type: ignore[type-arg]
        def __iter__(self) -> object:  # type: ignore[override]
            while True:
                yield "word"

    assert preview(Endless([1]), 20).endswith("…")
    assert preview("字" * 2_000_000, 60).endswith("…")
    assert preview(["a", {"b": None, "c": 1.5}], 60) == '["a", {b: null, c: 1.5}]'


def test_control_characters_are_edited_as_escapes() -> None:
    text, is_json = editable("a\x1b\x9b\u202e\n")
    assert is_json
    assert text == '"a\\u001b\\u009b\\u202e\\n"'
    assert json.loads(text) == "a\x1b\x9b\u202e\n"


async def test_every_pane_shows_hostile_text(open_pipeline: Open) -> None:
    opened = open_pipeline("pipeline:\n- lab.get_items\n- lab.search\n- lab.stumble\n")
    opened.tools.lab.items = list(HOSTILE)
    async with opened.running() as keys:
        await keys.press("n", "n", "n", "3", "right", "m")
        _check(keys.text())
        await keys.press("m")
        for pane in ("2", "4", "5", "6"):
            await keys.press(pane, "m", "end", "enter")
            _check(keys.text(), shown=False)
            await keys.press("escape", "m")
        await keys.press("3", "enter")
        _check(keys.text())
        await keys.press("down", "down", "down", "down", "enter")
        assert "␛[2J␦2J" in keys.text()
        await keys.press("c")
        assert opened.app.clipboard == "\x1b[2J\x9b2J"
        await keys.press("escape", "escape", "e")
        _check(keys.text(), shown=False)
    assert opened.debugger.state.status == "closed"


@pytest.mark.parametrize(
    "keys",
    [
        ("tab", "right", "tab", "right", "enter"),
        ("T", "end"),
        ("T", "s", "escape", "n"),
        ("T", "x"),
        ("R", "enter"),
        ("C", "enter", "end"),
        ("C", "enter", "3", "enter"),
        ("space", "down", "space"),
    ],
    ids=" ".join,
)
async def test_saved_runs_show_hostile_text(tmp_path: Path, keys: tuple[str, ...]) -> None:
    answers = HOSTILE[::-1]
    visits = [
        {"step": "[/]a.b", "memory": {"memory_[@click=app.quit]q_ls": HOSTILE}},
        {"step": "b.[red]c", "memory": {"memory_q_ls": HOSTILE, "memory_gt_ls": HOSTILE, "memory_pred_ls": answers}},
    ]
    runs = []
    for name, run in (("[red]x", visits), ("\x1b[2J", visits[:1])):
        file = tmp_path / f"memory_{name}_20250101_120000.json"
        file.write_text(json.dumps(run))
        runs += open_runs(file)
    app: ReplayApp = ReplayApp(Desk(runs))
    async with app.run_test(size=(120, 40)) as pilot:
        for key in keys:
            await pilot.press(key)
            await settled(pilot)
        lines = app.screen._compositor.render_strips()
        _check("\n".join(strip.text for strip in lines), shown=False)
        assert app.is_running


def _check(text: str, *, shown: bool = True) -> None:
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u202e]", text)
    for wanted in SHOWN if shown else ():
        assert wanted in text
