"""Keys of one's own: read, checked, and followed by everything that names a key."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.tui.support import LOOP, Opened
from workbench.pipeline.config import load_config
from workbench.tui.actions import SCREENS, Action
from workbench.tui.keymap import Keymap, read_keymap, textual_key

Open = Callable[..., Opened]


def keymap(folder: Path, text: str) -> tuple[Keymap, list[str]]:
    (folder / ".ragwb.yaml").write_text(text)
    config, problems = load_config(folder)
    assert not problems
    found, problems = read_keymap(config.keys)
    return found, [str(problem).removeprefix(f"{folder}/.ragwb.yaml") for problem in problems]


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("F10", "f10"),
        ("n", "n"),
        ("N", "N"),
        ("Shift+n", "N"),
        ("Shift+F11", "shift+f11"),
        ("Ctrl+O", "ctrl+o"),
        ("?", "question_mark"),
        ("question_mark", "question_mark"),
        ("+", "plus"),
        ("Ctrl++", "ctrl+plus"),
        ("é", "é"),
    ],
)
def test_keys_as_people_write_them(written: str, key: str) -> None:
    assert textual_key(written) == key


def test_a_letter_and_a_function_key(tmp_path: Path) -> None:
    found, problems = keymap(tmp_path, "keys: {step_over: [F8, z], continue: Ctrl+G}\n")
    assert (problems, found.chosen) == ([], {"step_over": ("f8", "z"), "continue": ("ctrl+g",)})


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("keys: {step_ovr: n}", ":1:18: warning: `keys.step_ovr` is no command; did you mean `step_over`"),
        ("keys: {step_over: F99}", ":1:19: warning: `keys.step_over` has a key that is none: `F99`"),
        ("keys: {step_over: Hyper+n}", "there is no 'hyper'"),
        ("keys: {step_over: j}", "can't have j, which moves, opens or closes in every list"),
        ("keys:\n  step_over: z\n  pause: z", ":3:10: warning: `keys.pause` can't have z: it is given to `step_over`"),
        ("keys: {step_over: i}", ":1:19: warning: `keys.step_over` takes i from `item_lens`, which has no key then"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tmp_path: Path, text: str, problem: str) -> None:
    [told] = keymap(tmp_path, text)[1]
    assert problem in told


@pytest.mark.parametrize("text", ["keys: [n]", "keys: {pause: {a: b}}", "keys: {pause: [[n]]}"])
def test_what_is_no_key_at_all_is_a_mistake(tmp_path: Path, text: str) -> None:
    (tmp_path / ".ragwb.yaml").write_text(text)
    [problem] = load_config(tmp_path)[1]
    assert "must be" in str(problem)


@pytest.mark.parametrize("actions", SCREENS)
def test_each_command_has_a_name_and_a_key_of_its_own(actions: tuple[Action, ...]) -> None:
    names = [action.setting for action in actions]
    keys = [key for action in actions for key in action.keys]
    assert len(set(names)) == len(names)
    assert len(set(keys)) == len(keys)


async def test_footer_help_palette_and_hints_follow(open_pipeline: Open, tmp_path: Path) -> None:
    (tmp_path / ".ragwb.yaml").write_text("keys: {step_over: [F8, z], continue: [F10], maximise_pane: []}\n")
    opened = open_pipeline(LOOP)
    async with opened.running(size=(200, 45)) as keys:
        lines = keys.text().splitlines()
        assert "F8 runs 1 lab.get_items   F10 runs on" in lines[1]
        assert "F10 Continue  F8 Over" in lines[-1]
        assert "Maximise" not in lines[-1]
        await keys.press("n")
        assert opened.debugger.state.place.step == "1"
        await keys.press("z")
        assert opened.debugger.state.place.step == "2"
        await keys.press("question_mark")
        assert "F8  z" in keys.text()
        await keys.press("escape", "ctrl+p", *"step over")
        await keys.until(lambda: "Step over  (F8, z)" in keys.text())
        await keys.press("escape", "f10")
        assert opened.debugger.state.status == "finished"


async def test_a_wrong_key_is_told_and_the_rest_works(open_pipeline: Open, tmp_path: Path) -> None:
    (tmp_path / ".ragwb.yaml").write_text("keys: {step_over: [F88], continue: z}\n")
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        assert any("`keys.step_over` has a key that is none: `F88`" in one.message for one in opened.app._notifications)
        await keys.press("n", "z")
        assert opened.debugger.state.status == "finished"
