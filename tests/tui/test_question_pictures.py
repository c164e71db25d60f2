"""Pictures of what servers ask."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from tests.tui.fakes import Lab
from tests.tui.support import Keys, Opened
from tests.tui.test_questions import ASKING, BOOKING, FORM, form, model, sample
from workbench.tui.editor import Editor
from workbench.tui.question_dialog import QuestionDialog

Open = Callable[..., Opened]
MESSAGE = "Which table shall I book? It is kept for each of the passages; the rest is as it was last time."
BOOK = form("name", "window", message=MESSAGE, **BOOKING)
COLOURS = form(colour={"title": "Colour", "enum": [f"colour {n}" for n in range(5_000)], "default": "colour 7"})
NO_FORM = (FORM, {"message": "Which range?", "requestedSchema": {"type": "array", "items": {"type": "integer"}}})
FILLED_IN = (*"Xi", "tab", *"here", "down", "9", "down", "space", "enter")


@pytest.mark.parametrize(
    "picture",
    [
        ("form", BOOK, (), (160, 45)),
        ("form with mistakes", BOOK, FILLED_IN, (100, 30)),
        ("narrow form", BOOK, ("tab", "tab", "tab", "tab"), (80, 24)),
        ("choices", COLOURS, ("space", *"42"), (100, 30)),
        ("no form", NO_FORM, (*"[1, 2", "ctrl+s"), (100, 30)),
        ("sampling", sample(temperature=0.2), ("ctrl+g",), (160, 45)),
        ("narrow sampling", sample("word " * 400), (*"mine",), (80, 24)),
        ("put off", BOOK, ("ctrl+l", "5"), (160, 45)),
    ],
    ids=lambda picture: picture[0],
)
def test_questions(open_pipeline: Open, snap_compare: Any, picture: tuple[str, Any, tuple[str, ...], Any]) -> None:
    name, asked, pressed, size = picture
    lab = Lab()
    lab.asks, lab.model = [asked], model
    opened = open_pipeline(ASKING, lab)

    async def drive(pilot: Any) -> None:
        keys = Keys(opened, pilot)
        await keys.settle()
        await keys.press("n")
        await keys.press_at_once("n")
        await keys.until(lambda: isinstance(opened.app.screen, QuestionDialog))
        for key in pressed:
            await keys.until(lambda: opened.app.focused is not None)
            await pilot.press(key)
        if pressed == ("ctrl+g",):
            # not by the text on the screen: to read it would keep what lies behind the dialog from being painted
            await keys.until(lambda: "more" in opened.app.screen.query_one(Editor).text)
        await keys.until(lambda: not opened.app.engine._told and not opened.app.engine._is_notified)
        await pilot.pause()

    assert snap_compare(opened.app, terminal_size=size, run_before=drive), name
    asyncio.run(opened.app.engine.close(3))
