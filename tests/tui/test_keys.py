"""Every command by its keys."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from textual.widgets import Input

from tests.tui.support import LOOP, RAG, Opened
from workbench.tui.edit_dialog import EditDialog

Open = Callable[..., Opened]


@pytest.mark.parametrize(
    ("key", "place"),
    [
        ("f10", "2"),
        ("n", "2"),
        ("f11", "2"),
        ("s", "2"),
        ("f5", None),
        ("c", None),
    ],
)
async def test_moving_from_the_first_step(open_pipeline: Open, key: str, place: str | None) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        assert opened.debugger.state.place.step == "1"
        await keys.press(key)
        assert opened.debugger.state.place.step == place


async def test_stepping_out_of_a_branch_and_a_loop(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        await keys.press("s", "s", "s", "s", "s")
        assert opened.debugger.state.place.step == "2.1.more.1"
        await keys.press("shift+f11")
        assert opened.debugger.state.place.step == "2.1"
        await keys.press("o")
        assert opened.debugger.state.place.step == "3"


async def test_breakpoint_is_set_hit_and_removed(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        await keys.press("end", "f9")
        assert "● " in next(line for line in keys.text().splitlines() if "3 lab.search" in line and "Step" not in line)
        await keys.press("f5")
        assert opened.debugger.state.place.step == "3"
        assert "breakpoint" in keys.text().splitlines()[1]
        await keys.press("b")
        assert not opened.debugger.breakpoints.by_step


async def test_breakpoint_is_switched_off(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        await keys.press("b", "D")
        assert not opened.debugger.breakpoints.by_step["1"].is_enabled
        assert "○" in keys.text()


async def test_condition_of_a_breakpoint(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        await keys.press("down", "down", "down", "down", "down", "down", "B")
        await keys.press(*"round ==", "enter")
        assert "can't read `round ==`" in keys.text()
        await keys.press(*" 2", "enter")
        assert opened.debugger.breakpoints.by_step["2.1.more.1"].condition == "round == 2"
        await keys.press("f5")
        assert opened.debugger.state.place.round == (2,)
        assert "◆" in keys.text()


async def test_a_breakpoint_with_all_that_it_may_have(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        await keys.press("B", "ctrl+u", *"1 after => got {{ q_ls[0] }}", "enter", "n")
        assert "◇ got fig" in keys.text()
        assert opened.debugger.state.place.step == "2"
        await keys.press("home", "B")
        assert "1 after => got {{ q_ls[0] }}" in keys.text()
        await keys.press("ctrl+u", *"1 sometimes", "enter")
        assert "`sometimes` in `1 sometimes` is not understood" in keys.text()


async def test_watches_and_the_list_of_all_that_stops(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        await keys.press("K")
        assert "none: b sets one at a step, w watches a variable" in keys.text()
        await keys.press("escape", "w", *"q_ls changes", "enter", "end", "b", "f5")
        assert "watch: q_ls changed" in keys.text()
        await keys.press("K")
        lines = keys.text()
        assert "watch q_ls changes" in lines
        assert "stopped 1 times" in lines
        await keys.press("down", "space")
        assert not opened.debugger.breakpoints.watches[0].is_enabled
        await keys.press("up", "D", "x")
        assert not opened.debugger.breakpoints.by_step
        await keys.press("home", "x", "escape", "f5")
        assert opened.debugger.breakpoints.watches == ()
        assert opened.debugger.state.status == "finished"


async def test_a_breakpoint_at_a_branch_is_seen(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        await keys.press("B", "ctrl+u", *"2.1.more", "enter")
        assert re.search(r"● +more", keys.text())
        await keys.press("f5")
        assert opened.debugger.state.place.step == "2.1.more.1"


async def test_pause_and_cancel_while_a_call_hangs(open_pipeline: Open) -> None:
    opened = open_pipeline("pipeline:\n- lab.get_items\n- lab.hang\n- lab.search\n")
    async with opened.running() as keys:
        await keys.press("n")
        await keys.press_at_once("f5")
        await keys.until(lambda: "running 2 lab.hang" in keys.text())
        await keys.press_at_once("x")
        await keys.settle()
        assert "cancelled 2 lab.hang" in keys.text()
        await keys.press_at_once("f5", "p")
        opened.app.engine._loop.call_soon_threadsafe(opened.tools.lab.hanging.set)
        await keys.settle()
        assert opened.debugger.state.place.step == "3"
        assert "paused before 3 lab.search" in keys.text()


async def test_a_failed_step_is_shown_and_run_again(open_pipeline: Open) -> None:
    opened = open_pipeline("pipeline:\n- lab.get_items\n- lab.stumble\n")
    async with opened.running() as keys:
        await keys.press("f5")
        assert "failed 2 lab.stumble" in keys.text()
        assert "can't read [/] shard ␛[2J of the index" in keys.text()
        await keys.press("r")
        assert opened.debugger.state.status == "finished"
        assert "attempt 2" in keys.text()


async def test_restart_asks_first(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        await keys.press("n", "R", "n")
        assert len(opened.debugger.visits) == 1
        await keys.press("R", "y")
        assert not opened.debugger.visits
        assert opened.debugger.state.place.step == "1"
        assert "no step has run yet" in keys.text()


async def test_restarting_a_server(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        await keys.press("S")
        assert "restart lab" in keys.text()
        await keys.press("enter")
        assert opened.tools.restarted == ["lab"]
        await keys.press("S", "end")
        assert "stop lab" in keys.text()
        await keys.press("enter")
        assert opened.tools.stopped == ["lab"]


async def test_restarting_a_server_that_is_an_address(open_pipeline: Open) -> None:
    steps = "- lab.get_items\n- far.search: {input: {query_list: q_ls, top_k: 1}}\n"
    opened = open_pipeline(f"  far: http://127.0.0.1:9/mcp\npipeline:\n{steps}")
    async with opened.running() as keys:
        await keys.press("S", "down")
        assert "far  (an address: connected to anew; it is not stopped)" in keys.text()
        await keys.press("enter")
        assert opened.tools.restarted == ["far"]


async def test_a_long_failure_is_told_in_short(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        opened.screen.say("[/] \x1b[2J and so on\n" * 100_000, is_error=True)
        await keys.pilot.pause()
        assert "[/] ␛[2J and so on" in keys.text()
        assert "…" in keys.text()


async def test_editing_a_variable(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        await keys.press("n", "3", "e")
        assert "Variable q_ls (JSON or YAML)" in keys.text()
        await keys.press("ctrl+a", *'["a"', "ctrl+s")
        assert "line 1, column" in keys.text()
        await keys.press("]", "ctrl+s")
        assert "give a list of 4" in keys.text()
        await keys.press("ctrl+a", *'["a","b","c","d"]', "ctrl+s")
        assert opened.debugger.state.pool.variables["q_ls"].value == ["a", "b", "c", "d"]
        assert "edited" in keys.text()


async def test_editing_one_item_with_the_lens(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        await keys.press("n", "3", "i", "]", "e")
        assert "Item [1] of q_ls (text)" in keys.text()
        await keys.press("ctrl+a", *"plum", "ctrl+s")
        assert opened.debugger.state.pool.variables["q_ls"].value == ["fig", "plum", "kiwi", "date"]


async def test_editing_the_item_at_the_cursor(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        await keys.press("n", "3", "right", "down", "down", "down", "e")
        assert "Item [2] of q_ls (text)" in keys.text()


async def test_editing_a_parameter(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        await keys.press("3", "e")
        assert "open the row" in keys.text()
        await keys.press("right", "down", "down", "e")
        assert "Parameter top_k of lab" in keys.text()
        await keys.press("ctrl+a", "5", "ctrl+s")
        assert opened.debugger.state.pool.parameters["lab"]["top_k"].value == 5


async def test_editing_an_input_for_one_visit(open_pipeline: Open) -> None:
    opened = open_pipeline("pipeline:\n- lab.get_items\n- lab.search\n")
    async with opened.running() as keys:
        await keys.press("n", "2", "down", "e")
        assert "Input top_k, for this visit only" in keys.text()
        await keys.press("ctrl+a", "1", "ctrl+s", "n")
        assert opened.tools.calls[-1].arguments["top_k"] == 1
        assert opened.debugger.state.pool.parameters["lab"]["top_k"].value == 2


async def test_editing_one_item_of_an_input(open_pipeline: Open) -> None:
    opened = open_pipeline("pipeline:\n- lab.get_items\n- lab.search\n")
    async with opened.running() as keys:
        await keys.press("n", "2", "i", "e", "ctrl+a", *"plum", "ctrl+s", "n")
        assert opened.tools.calls[-1].arguments["query_list"] == ["plum", "apple", "kiwi", "date"]


async def test_a_prompt_is_edited_as_text(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG)
    async with opened.running() as keys:
        await keys.press("n", "n", "n", "2", "i", "e")
        assert "Question: fig" in keys.text()
        await keys.press("ctrl+a", *"Why", "ctrl+s", "n")
        assert opened.debugger.state.pool.variables["ans_ls"].value[0] == "A(Why)"


async def test_changing_a_decision(open_pipeline: Open) -> None:
    text = LOOP.replace("route_done", "route_oddly")
    opened = open_pipeline(text)
    async with opened.running() as keys:
        await keys.press("s", "s", "s", "s")
        assert "state maybe for [2]" in keys.text()
        await keys.press("d", "down", "down", "enter", "enter", "ctrl+s")
        assert opened.debugger.routes == {0: "more", 1: "more", 2: "done", 3: "more"}
        await keys.press("s")
        assert opened.debugger.state.place.step == "2.1.more.1"
        assert "3 items" in keys.text()


async def test_panes_by_tab_number_and_maximised(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        await keys.press("tab", "tab")
        assert opened.screen.rows_in_front().id == "variables"
        await keys.press("shift+tab", "shift+tab", "shift+tab")
        assert opened.screen.rows_in_front().id == "snapshots"
        await keys.press("m")
        assert "╭─ Pipeline" not in keys.text()
        assert "┏━ Snapshots" in keys.text()
        await keys.press("5")
        assert "┏━ Traffic" in keys.text()
        await keys.press("m")
        assert "╭─ Pipeline" in keys.text()


async def test_tabs_of_the_step_pane(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG)
    async with opened.running() as keys:
        await keys.press("n", "n", "n")
        await keys.press("full_stop", "full_stop")
        assert "── 0 · user" in keys.text()
        await keys.press("full_stop")
        assert "- lab.generate" in keys.text()
        await keys.press("full_stop")
        assert opened.screen.rows_in_front().id == "pipeline"
        assert "lab: servers/lab" not in keys.text()
        await keys.press("comma")
        assert "lab: servers/lab" in keys.text()


async def test_find_looks_into_closed_values(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    opened.tools.lab.items = ["short", "北灯塔的看守人是谁？"]
    async with opened.running() as keys:
        await keys.press("n", "3", "slash", *"看守人", "enter")
        node = opened.screen._variables.node
        assert node is not None
        assert (node.root.name, node.path) == ("q_ls", (1,))
        await keys.press("escape")
        assert opened.screen.focused is opened.screen._variables


async def test_find_says_when_there_is_nothing(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        await keys.press("slash", *"nowhere", "enter")
        assert "no match" in keys.text()


async def test_copy_gives_the_true_text(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    opened.tools.lab.items = ["a\x1b[2Jb"]
    async with opened.running() as keys:
        await keys.press("n", "3", "right", "down", "y")
        assert opened.app.clipboard == "a\x1b[2Jb"


async def test_theme_help_and_palette(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        assert opened.app.theme == "ragwb-dark"
        await keys.press("t", "down", "down")
        assert opened.app.theme == "ragwb-light"
        await keys.press("escape")
        assert opened.app.theme == "ragwb-dark"
        await keys.press("question_mark")
        assert "run on to the next breakpoint" in keys.text()
        await keys.press("escape", "ctrl+p", *"step over")
        await keys.until(lambda: "Step over" in keys.text())
        await keys.press("enter")
        await keys.settle()
        assert opened.debugger.state.place.step == "2"


async def test_a_visit_of_the_timeline_is_shown(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        await keys.press("c", "4", "home", "down")
        assert "Step 2.1.router.1 lab.route_done" in keys.text()
        await keys.press("2", "e")
        assert not isinstance(opened.app.screen, EditDialog)


async def test_value_message_and_snapshot_open(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        await keys.press("n", "5", "enter")
        assert '"jsonrpc": "2.0"' in keys.text()
        await keys.press("escape", "6", "home", "enter")
        assert "memory_q_ls" in keys.text()
        await keys.press("q", "3", "enter", "down", "enter")
        assert "3 characters" in keys.text()


async def test_quitting_asks_only_while_a_step_runs(open_pipeline: Open) -> None:
    opened = open_pipeline("pipeline:\n- lab.get_items\n- lab.hang\n")
    async with opened.running() as keys:
        await keys.press_at_once("c")
        await keys.until(lambda: opened.debugger.state.running is not None)
        await keys.press_at_once("q")
        await keys.until(lambda: "Stop it and leave?" in keys.text())
        await keys.press_at_once("y")
        await keys.until(lambda: opened.tools.is_closed)


async def test_the_question_goes_with_the_step_that_it_asks_about(open_pipeline: Open) -> None:
    opened = open_pipeline("pipeline:\n- lab.get_items\n- lab.hang\n")
    async with opened.running() as keys:
        await keys.press_at_once("c")
        await keys.until(lambda: opened.debugger.state.running is not None)
        await keys.press_at_once("q")
        await keys.until(lambda: "Stop it and leave?" in keys.text())
        opened.app.engine.submit(opened.debugger.cancel)
        await keys.until(lambda: "Stop it and leave?" not in keys.text())
        assert opened.app.screen is opened.screen


async def test_control_c_leaves_and_the_second_one_does_not_ask(open_pipeline: Open) -> None:
    opened = open_pipeline("pipeline:\n- lab.get_items\n- lab.hang\n")
    async with opened.running() as keys:
        await keys.press_at_once("c")
        await keys.until(lambda: opened.debugger.state.running is not None)
        await keys.press_at_once("ctrl+c")
        await keys.until(lambda: "Stop it and leave?" in keys.text())
        await keys.press_at_once("ctrl+c")
        await keys.until(lambda: opened.tools.is_closed)


async def test_quitting_while_a_server_hangs_in_start(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP, hangs_at_start=True)
    async with opened.running() as keys:
        assert "lab: starting, 0 s · loading index shard 1 of 400" in keys.text()
        await keys.press_at_once("n")
        await keys.until(lambda: opened.debugger.state.status == "running")
        await keys.press_at_once("ctrl+q")
        await keys.until(lambda: "Stop it and leave?" in keys.text())
        await keys.press_at_once("y")
        await keys.until(lambda: opened.tools.is_closed)


async def test_the_error_of_the_step_in_view_comes_to_the_front(open_pipeline: Open) -> None:
    opened = open_pipeline("pipeline:\n- lab.get_items\n- lab.stumble\n")
    async with opened.running() as keys:
        await keys.press("n", "n")
        assert opened.screen._step.view.id == "error"
        await keys.press("e")
        assert opened.screen.focused is opened.screen._step.inputs
        await keys.press("e")
        assert isinstance(opened.app.screen, EditDialog)


async def test_the_mouse_selects_and_opens(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        await keys.press("n")
        await keys.pilot.click("#pipeline", offset=(5, 5))
        await keys.settle()
        step = opened.screen._tree.step
        assert step is not None
        assert step.path == "2.1.router.1"
        await keys.pilot.click("#step-tabs", offset=(26, 0))
        await keys.settle()
        assert "lab: servers/lab" in keys.text()
        await keys.pilot.click("#variables", offset=(3, 1), times=2)
        await keys.settle()
        assert "q_ls  list 4" in keys.text()


async def test_every_action_has_a_method(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running():
        for action in opened.screen.ACTIONS:
            name = action.name.partition("(")[0]
            owner = opened.app if name.startswith("app.") else opened.screen
            assert hasattr(owner, f"action_{name.removeprefix('app.')}"), name


@pytest.mark.parametrize(
    ("keys", "typed"), [("f3e", "3e"), ("/n2", "n2"), ("=q_ls", "q_ls"), (":n3", "n3"), ("Imq", "mq")]
)
async def test_what_is_typed_in_one_burst_goes_where_its_first_key_leads(
    open_pipeline: Open, keys: str, typed: str
) -> None:
    opened = open_pipeline(RAG)
    async with opened.running() as keyboard:
        await keyboard.press("n", "3")
        await keyboard.burst(keys)
        assert isinstance(opened.app.focused, Input)
        assert opened.app.focused.value == typed
        assert opened.debugger.state.place.step == "2"


async def test_a_burst_goes_on_after_a_dialog_was_closed(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG)
    async with opened.running() as keyboard:
        await keyboard.burst("?")
        await keyboard.burst("\x1bn")
        assert opened.debugger.state.place.step == "2"
