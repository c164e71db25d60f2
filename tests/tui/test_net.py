"""What goes wrong on the screen does not end the session, whatever it is."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from textual import events

from tests.tui.support import LOOP, RAG, Opened
from workbench.engine.events import ServerOutput
from workbench.engine.state import CommandRefused
from workbench.tui.app import INTERRUPTED
from workbench.tui.dialogs import Confirm
from workbench.tui.router_dialog import RouterDialog
from workbench.tui.rows import Row
from workbench.tui.text_view import TextView
from workbench.tui.traffic_log import KEPT_BYTES, TrafficLog
from workbench.tui.variables_pane import VariablesPane

Open = Callable[..., Opened]
HANG = "pipeline:\n- lab.get_items\n- lab.hang\n"
PASTED = "a\x9b2J\u202eb\x1b]"
SHOWN = "a␦2J␦b␛]"


def fail(*_: object) -> Row:
    return {}["no such row"]  # type: ignore[no-any-return, misc]


# ---- mistakes of ours


@pytest.mark.parametrize("where", ["row", "action_move", "row_count"])
async def test_a_mistake_in_a_pane(
    open_pipeline: Open, monkeypatch: pytest.MonkeyPatch, mistakes: list[BaseException], where: str, tmp_path: Path
) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        await keys.press("n", "3")
        with monkeypatch.context() as patched:
            patched.setattr(VariablesPane, where, fail)
            await keys.press("down", "down")
            assert "ragwb made a mistake: KeyError: 'no such row'" in keys.text().replace("\n", "")
        await keys.press("n")
        assert opened.debugger.state.place.step == "3"
    assert all(isinstance(mistake, KeyError) for mistake in mistakes)
    assert (tmp_path / "state" / "ragwb" / "ragwb.log").read_text().count("Traceback") <= 2
    mistakes.clear()


async def test_a_mistake_in_showing_the_run(
    open_pipeline: Open, monkeypatch: pytest.MonkeyPatch, mistakes: list[BaseException]
) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        with monkeypatch.context() as patched:
            patched.setattr("workbench.tui.timeline.Timeline.show", fail)
            await keys.press("n")
        await keys.press("n")
        assert opened.debugger.state.place.step == "3"
        assert "lab.extend" in keys.text()
    assert mistakes
    mistakes.clear()


async def test_where_it_cannot_go_on_it_ends_with_one_line(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)

    async def run() -> None:
        async with opened.running() as keys:
            opened.app._handle_exception(ZeroDivisionError("x" * 2000))
            opened.app._handle_exception(KeyError("the next one"))
            assert len(opened.app._exit_renderables) == 1
            await keys.pilot.pause()

    with pytest.raises(ZeroDivisionError):
        await run()
    assert opened.app.return_code == 1


# ---- leaving


async def test_leaving_unasked_in_mid_run(open_pipeline: Open) -> None:
    opened = open_pipeline(HANG)
    async with opened.running() as keys:
        await keys.press_at_once("c")
        await keys.until(lambda: opened.debugger.state.running is not None)
        opened.app.leave_unasked()
        opened.app.leave_unasked()
        await keys.until(lambda: opened.app.return_value is not None)
        assert opened.app.return_value is not None
        assert opened.app.return_value.code == INTERRUPTED
        assert opened.tools.is_closed


async def test_leaving_unasked_where_it_stands(open_pipeline: Open) -> None:
    opened = open_pipeline(HANG)
    async with opened.running() as keys:
        await keys.press("n")
        opened.app.leave_unasked()
        await keys.until(lambda: opened.app.return_value is not None)
        assert opened.app.return_value is not None
        assert opened.app.return_value.code == 0


async def test_one_question_for_many_keys(open_pipeline: Open) -> None:
    opened = open_pipeline(HANG)
    async with opened.running() as keys:
        await keys.press_at_once("c")
        await keys.until(lambda: opened.debugger.state.running is not None)
        await keys.press_at_once("ctrl+q", "ctrl+q", "ctrl+q")
        assert [type(screen) for screen in opened.app.screen_stack[1:]] == [Confirm]
        await keys.press_at_once("n")
        assert opened.app.screen is opened.screen
        await keys.press_at_once("ctrl+q")
        await keys.until(lambda: isinstance(opened.app.screen, Confirm))
        await keys.press_at_once("y")
        await keys.until(lambda: opened.tools.is_closed)


# ---- items that are there no longer


async def test_fewer_items_than_the_lens_knows(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG)
    async with opened.running() as keys:
        await keys.press("c", "[")
        assert "item [3] of 4" in keys.text()
        opened.tools.lab.items = ["fig", "kiwi"]
        await keys.press("R", "y")
        await keys.press("n", "n", "3", "4", "6", "end", "full_stop", "e")
        assert "there is no item [3] any more, only 2" in keys.text()
        assert "2 items" in keys.text().splitlines()[0]
        assert opened.app.screen.is_current


async def test_a_lens_is_guarded_even_before_it_is_taken_off(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG)
    async with opened.running() as keys:
        await keys.press("n", "n", "3")
        opened.screen._model.lens = 9
        opened.screen._variables.show_pool()
        opened.screen._snapshots.show()
        opened.screen._step.refresh_shown()
        await keys.press("e")
        assert "item [9] is not among the items of this step" in keys.text()


# ---- dialogs and the palette


@pytest.mark.parametrize("key", ["pagedown", "pageup", "down", "up", "end", "home", "enter"])
async def test_a_key_right_after_the_palette(open_pipeline: Open, key: str) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        await keys.press_at_once("ctrl+p", key, key)
        await keys.settle()
        await keys.press("escape", "escape")
        assert opened.app.screen is opened.screen


async def test_a_decision_that_is_refused(open_pipeline: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = open_pipeline(LOOP.replace("route_done", "route_oddly"))
    async with opened.running() as keys:
        await keys.press("s", "s", "s", "s", "d")

        def refuse(*_: object) -> None:
            raise CommandRefused("no router has just decided")

        monkeypatch.setattr(opened.debugger, "edit_state", refuse)
        await keys.press("down", "down", "enter", "ctrl+s")
        assert isinstance(opened.app.screen, RouterDialog)
        assert "no router has just decided" in keys.text()
        await keys.press("escape")
        assert opened.app.screen is opened.screen


@pytest.mark.parametrize("way", [("slash",), ("B",), ("ctrl+p",), ("n", "3", "e", "ctrl+a")])
@pytest.mark.parametrize("is_copied", [False, True], ids=["pasted", "copied in ragwb"])
async def test_what_is_pasted_is_harmless(open_pipeline: Open, way: tuple[str, ...], is_copied: bool) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        await keys.press(*way)
        if is_copied:
            opened.app.copy_to_clipboard(PASTED)
            await keys.press("ctrl+v")
        else:
            opened.app.post_message(events.Paste(PASTED))
            await keys.settle()
        assert SHOWN in keys.text()
        assert PASTED not in keys.text()


# ---- much at once


async def test_find_in_one_long_line_of_any_script(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running():
        view = TextView("é" * 3_000_000)
        await opened.screen.mount(view)
        view.rows_changed()
        begun = time.monotonic()
        assert not view.find("nowhere", 1)
        assert time.monotonic() - begun < 10


def test_output_of_servers_is_bounded_in_bytes() -> None:
    log = TrafficLog()
    text = "x" * (KEPT_BYTES // 20)
    for _ in range(60):
        log.take(ServerOutput(server="lab", stream="stderr", text=text), 0)
    assert log.dropped
    assert sum(line.size for line in log.lines) <= KEPT_BYTES


@pytest.mark.parametrize("opening", [("B",), ("S",), ("ctrl+p", *"item lens", "down")], ids=["B", "S", "palette"])
async def test_enter_twice_closes_one_screen(open_pipeline: Open, opening: tuple[str, ...]) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        await keys.press("n", "3", "enter")
        viewer = opened.app.screen
        await keys.press("escape")
        await keys.press("1", *opening)
        assert opened.app.screen is not viewer
        await keys.press_at_once("enter", "enter", "enter")
        await keys.settle()
        await keys.press("escape")
        assert opened.app.screen is opened.screen
        assert opened.screen.lens == (0 if opening[0] == "ctrl+p" else None)
