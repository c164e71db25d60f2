"""What servers ask: forms, texts for a model, and what becomes of questions that nobody waits for any more."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from textual import events

from tests.tui.fakes import Lab
from tests.tui.support import Keys, Opened
from workbench.engine.ports import Asked, Reply
from workbench.tui import question_dialog
from workbench.tui.form_dialog import FormDialog
from workbench.tui.pick_dialog import PickDialog
from workbench.tui.writing_dialog import JsonDialog, SamplingDialog

Open = Callable[..., Opened]
ASKING = "pipeline:\n- lab.get_items\n- lab.wonder\n- lab.search\n"
FORM, SAMPLE = "elicitation/create", "sampling/createMessage"
COLOURS = [{"const": "r", "title": "Red"}, {"const": "g", "title": "Green"}, {"const": "b", "title": "Blue"}]
BOOKING = {
    "name": {"type": "string", "title": "Name", "minLength": 2, "description": "as it stands on the door"},
    "mail": {"type": "string", "format": "email"},
    "seats": {"type": "integer", "title": "Seats", "minimum": 1, "maximum": 8, "default": 2},
    "window": {"type": "boolean", "title": "At the window"},
    "colour": {"oneOf": COLOURS, "title": "Colour", "default": "g"},
    "extras": {
        "type": "array",
        "title": "Extras",
        "items": {"enum": ["tea", "cake", "quiet"]},
        "maxItems": 2,
        "default": ["tea"],
    },
}


def form(*required: str, message: str = "Which table?", **properties: Any) -> tuple[str, Any]:
    return FORM, {
        "message": message,
        "requestedSchema": {"type": "object", "properties": properties, "required": list(required)},
    }


def sample(text: str = "Say [b]it[/b]", **more: Any) -> tuple[str, Any]:
    messages = [{"role": "user", "content": {"type": "text", "text": text}}]
    return SAMPLE, {"messages": messages, "maxTokens": 50, "systemPrompt": "Be brief", **more}


class Answerer:
    """The keyboard while a server asks, and what it was answered."""

    def __init__(self, opened: Opened, keys: Keys) -> None:
        self.opened = opened
        self.keys = keys

    @property
    def front(self) -> Any:
        return self.opened.app.screen

    async def press(self, *keys: str) -> None:
        """Without waiting for the engine to stand still: it waits for us."""
        for key in keys:
            await self.keys.pilot.press(key)
        await self.keys.pilot.pause()

    async def comes(self, kind: type) -> None:
        await self.keys.until(lambda: isinstance(self.front, kind) and self.front.focused is not None)
        await self.keys.pilot.pause()

    async def answers(self) -> list[Any]:
        await self.keys.settle()
        return self.opened.tools.lab.answers

    def text(self) -> str:
        return self.keys.text()


@asynccontextmanager
async def asking(open_pipeline: Open, *asks: tuple[str, Any], size: tuple[int, int] = (160, 45), **lab: Any) -> Any:
    made = Lab()
    made.asks = list(asks)
    for name, value in lab.items():
        setattr(made, name, value)
    opened = open_pipeline(ASKING, made)
    async with opened.running(size) as keys:
        await keys.press("n")
        await keys.press_at_once("n")
        yield Answerer(opened, keys)


async def test_a_form_is_filled_in(open_pipeline: Open) -> None:
    async with asking(open_pipeline, form("name", "window", **BOOKING)) as it:
        await it.comes(FormDialog)
        seen = it.text()
        assert "lab asks · 2 lab.wonder · visit 2" in seen
        assert "Which table?" in seen
        assert "as it stands on the door" in seen
        await it.press(*"x")
        assert "must have at least 2 characters, has 1" in it.text()
        await it.press(*"iu", "tab", *"me@x", "tab", "backspace", "9")
        assert "must be 1 to 8" in it.text()
        await it.press("enter")
        assert isinstance(it.front, FormDialog)
        await it.press("backspace", "4", "down", "space", "down", "right", "down", "space")
        await it.comes(PickDialog)
        await it.press("down", "enter", *"tea", "enter", "escape")
        await it.press("enter")
        assert await it.answers() == [
            {
                "action": "accept",
                "content": {
                    "name": "xiu",
                    "mail": "me@x",
                    "seats": 4,
                    "window": True,
                    "colour": "b",
                    "extras": ["cake"],
                },
            }
        ]
        assert it.opened.debugger.state.place.step == "3"


@pytest.mark.parametrize(
    ("key", "action"), [("enter", "accept"), ("ctrl+s", "accept"), ("ctrl+r", "decline"), ("escape", "cancel")]
)
async def test_the_three_answers_to_a_form(open_pipeline: Open, key: str, action: str) -> None:
    async with asking(open_pipeline, form(seats={"type": "integer", "default": 2})) as it:
        await it.comes(FormDialog)
        await it.press(key)
        assert await it.answers() == [{"action": action, **({"content": {"seats": 2}} if action == "accept" else {})}]
        [told] = [e for e in it.opened.screen._model.timeline if e.event.type == "server_answered"]
        assert told.event.action == action
        assert "lab asked" in it.text()
        assert it.front is it.opened.screen


async def test_what_is_missing_is_said_beside_its_field(open_pipeline: Open) -> None:
    pattern = {"type": "string", "pattern": "^[a-z]+$"}
    async with asking(open_pipeline, form("b", a={"type": "string"}, b=pattern, c=pattern)) as it:
        await it.comes(FormDialog)
        await it.press("enter")
        assert next(line for line in it.text().splitlines() if "> b *" in line).count("must be filled in") == 1
        await it.press(*"B1", "enter")
        await it.keys.until(lambda: "must be like ^[a-z]+$" in it.text())
        await it.press("backspace", "backspace", *"ok", "enter")
        assert await it.answers() == [{"action": "accept", "content": {"b": "ok"}}]


async def test_several_questions_wait_in_order(open_pipeline: Open) -> None:
    asks = [form(message=f"Question {n}?") for n in (1, 2, 3)]
    async with asking(open_pipeline, *asks) as it:
        await it.comes(FormDialog)
        assert "Question 1?" in it.text()
        assert "waits for an answer (and 2 more)" in it.opened.screen.query_one("#reason")._parts[1].text
        await it.press("enter")
        await it.keys.until(lambda: "Question 2?" in it.text())
        await it.press("ctrl+r")
        await it.keys.until(lambda: "Question 3?" in it.text())
        await it.press("escape")
        assert [answer["action"] for answer in await it.answers()] == ["accept", "decline", "cancel"]


async def test_a_question_may_be_put_off_to_look_around(open_pipeline: Open) -> None:
    async with asking(open_pipeline, form(name={"type": "string"})) as it:
        await it.comes(FormDialog)
        await it.press(*"half", "ctrl+l")
        assert it.front is it.opened.screen
        assert "lab waits for an answer: Which table?" in it.text().splitlines()[1]
        await it.press("5")
        assert "elicitation/create" in it.text()
        await it.press("a")
        await it.comes(FormDialog)
        await it.press(*" way", "enter")
        assert await it.answers() == [{"action": "accept", "content": {"name": "half way"}}]
        await it.press("a")
        assert "no server asks anything" in it.text()


async def test_a_question_goes_with_its_call(open_pipeline: Open) -> None:
    async with asking(open_pipeline, form(message="First?"), form(message="Second?")) as it:
        await it.comes(FormDialog)
        it.opened.app.engine.submit(it.opened.debugger.cancel)
        await it.keys.until(lambda: it.front is it.opened.screen)
        await it.keys.settle()
        assert it.opened.debugger.state.stop.reason == "cancelled"
        assert "waits for an answer" not in it.text()
        assert not it.opened.app.engine.user.open


async def test_a_question_that_is_covered_goes_when_it_is_seen(open_pipeline: Open) -> None:
    colours = {"enum": ["red", "green", "blue", "grey"]}
    async with asking(open_pipeline, form(colour=colours)) as it:
        await it.comes(FormDialog)
        await it.press("space")
        await it.comes(PickDialog)
        it.opened.app.engine.submit(it.opened.debugger.cancel)
        await it.keys.settle()
        assert isinstance(it.front, PickDialog)
        await it.press("escape")
        await it.keys.until(lambda: it.front is it.opened.screen)


async def test_a_question_waits_until_another_dialog_is_closed(open_pipeline: Open) -> None:
    async with asking(open_pipeline) as it:
        await it.keys.press("u", "question_mark")
        it.opened.tools.lab.asks = [form()]
        it.opened.app.engine.submit(it.opened.debugger.run, "over")
        await it.keys.until(lambda: bool(it.opened.app.engine.user.open))
        await it.keys.until(lambda: "lab waits for an answer" in it.text())
        await it.press("escape")
        await it.comes(FormDialog)
        await it.press("enter")
        assert [answer["action"] for answer in await it.answers()] == ["accept"]


async def test_a_key_pressed_in_haste_is_no_answer(open_pipeline: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(question_dialog, "HASTE_SECONDS", 600)
    async with asking(open_pipeline, form()) as it:
        await it.comes(FormDialog)
        await it.press("enter", "escape", "ctrl+s", "ctrl+r", "ctrl+l")
        assert isinstance(it.front, FormDialog)
        monkeypatch.setattr(question_dialog, "HASTE_SECONDS", 0)
        await it.press("enter")
        assert [answer["action"] for answer in await it.answers()] == ["accept"]


async def test_what_goes_into_a_secret_s_field_is_dotted(open_pipeline: Open) -> None:
    async with asking(open_pipeline, form(api_key={"type": "string"})) as it:
        await it.comes(FormDialog)
        await it.press(*"sesame")
        assert "sesame" not in it.text()
        assert it.text().count("••••••") == 2
        await it.press("enter")
        assert await it.answers() == [{"action": "accept", "content": {"api_key": "sesame"}}]


async def test_leaving_while_a_server_waits(open_pipeline: Open) -> None:
    async with asking(open_pipeline, form()) as it:
        await it.comes(FormDialog)
        await it.press("ctrl+q", "n")
        assert isinstance(it.front, FormDialog)
        await it.press("ctrl+q", "y")
        await it.keys.until(lambda: it.opened.debugger.state.status == "closed")
        assert not it.opened.app.engine.user.open


# ---- a model's answer


async def model(asked: Asked) -> Reply:
    return Reply("accept", "It.\nAnd \x1b[2Jmore")


async def test_the_model_answers_and_the_user_looks_at_it_first(open_pipeline: Open) -> None:
    async with asking(open_pipeline, sample(), model=model) as it:
        await it.comes(SamplingDialog)
        for seen in ("Say [b]it[/b]", "system: Be brief", "at most 50 tokens", "^G the model answers"):
            assert seen in it.text()
        await it.press("ctrl+s")
        assert "there is no answer yet" in it.text()
        await it.press("ctrl+g")
        await it.keys.until(lambda: "And ␛[2Jmore" in it.text())
        await it.press("ctrl+s")
        [answer] = await it.answers()
        assert answer["content"]["text"] == "It.\nAnd \x1b[2Jmore"


async def test_the_user_edits_what_the_model_answered(open_pipeline: Open) -> None:
    async with asking(open_pipeline, sample(), model=model) as it:
        await it.comes(SamplingDialog)
        await it.press("ctrl+g")
        await it.keys.until(lambda: "And " in it.text())
        await it.press("ctrl+a", *"No.", "ctrl+s")
        [answer] = await it.answers()
        assert answer["content"]["text"] == "No."


async def test_without_a_model_the_user_writes_or_refuses(open_pipeline: Open) -> None:
    async with asking(open_pipeline, sample(), sample(), sample()) as it:
        await it.comes(SamplingDialog)
        assert "^G" not in it.text()
        await it.press("ctrl+g", *"mine", "ctrl+s")
        await it.comes(SamplingDialog)
        await it.press("ctrl+r")
        await it.comes(SamplingDialog)
        await it.press("escape")
        written, refused, cancelled = await it.answers()
        assert written["content"]["text"] == "mine"
        assert (refused, cancelled) == ("the user declined", "the user cancelled")


async def test_a_model_that_fails_says_why(open_pipeline: Open) -> None:
    async def fails(asked: Asked) -> Reply:
        return Reply("decline", reason="no model is loaded")

    async with asking(open_pipeline, sample(), model=fails) as it:
        await it.comes(SamplingDialog)
        await it.press("ctrl+g")
        await it.keys.until(lambda: "no model is loaded" in it.text())
        await it.press(*"mine", "ctrl+s")
        [answer] = await it.answers()
        assert answer["content"]["text"] == "mine"


async def test_a_question_of_the_model_s_server_comes_first(open_pipeline: Open) -> None:
    """Else the model would wait for an answer that the user can't give while it is waited for."""
    opened: list[Any] = []

    async def asks_itself(asked: Asked) -> Reply:
        answer = await opened[0].tools.lab.respond(*form(message="Which model?"))
        return Reply("accept", answer["action"])

    async with asking(open_pipeline, sample(), model=asks_itself) as it:
        opened.append(it.opened)
        await it.comes(SamplingDialog)
        await it.press("ctrl+g")
        await it.comes(FormDialog)
        await it.press("enter")
        await it.comes(SamplingDialog)
        await it.keys.until(lambda: "accept" in it.front.query_one("Editor").text)
        await it.press("ctrl+s")
        [answer] = await it.answers()
        assert answer["content"]["text"] == "accept"


# ---- what strangers send


async def test_what_is_no_form_is_written_as_json(open_pipeline: Open) -> None:
    asked = (FORM, {"message": "Which?", "requestedSchema": {"type": "string", "title": "\x1b]0;x\x07"}})
    async with asking(open_pipeline, asked) as it:
        await it.comes(JsonDialog)
        assert '"type": "string"' in it.text()
        await it.press(*"[1", "ctrl+s")
        assert "column 3" in it.text()
        await it.press("]", "ctrl+s")
        assert "must be a map" in it.text()
        await it.press("ctrl+a", *'{"a": 1}', "ctrl+s")
        assert await it.answers() == [{"action": "accept", "content": {"a": 1}}]


HOSTILE = {
    "200 fields": {f"field {n}": {"type": "string", "default": "d"} for n in range(200)},
    "5,000 choices": {"one": {"enum": [f"value {n}" for n in range(5_000)], "default": "value 7"}},
    "nested": {"in": {"type": "object", "properties": {"a": {"type": "object"}}}, "no type": {}, "odd": {"type": 7}},
    "escapes": {
        "\x1b[2J\x1b]0;x\x07[/][@click=app.quit]x[/]": {"title": "\x1b[31m" * 500, "description": "\u202e" * 9999}
    },
    "a huge default": {"x": {"type": "string", "default": "x\n" * 1_000_000}},
}


@pytest.mark.parametrize("size", [(160, 45), (100, 30), (80, 24), (30, 8)])
@pytest.mark.parametrize("name", HOSTILE)
async def test_hostile_forms(open_pipeline: Open, name: str, size: tuple[int, int]) -> None:
    message = "Huge \x1b[2J message [/] " * 50_000
    async with asking(open_pipeline, form(message=message, **HOSTILE[name]), size=size) as it:
        await it.comes(FormDialog)
        await it.press("pagedown", "up", "down", "tab", "ctrl+down", "ctrl+up", "shift+tab", "pageup")
        if name == "5,000 choices":
            await it.press("space")
        assert "\x1b" not in it.text()
        if isinstance(it.front, PickDialog):
            await it.press("pagedown", *"4999", "enter")
        await it.press("ctrl+s")
        [answer] = await it.answers()
        content = answer["content"]
        defaults = {key: about["default"] for key, about in HOSTILE[name].items() if "default" in about}
        assert content == (defaults if name != "5,000 choices" else {"one": "value 4999"})


@pytest.mark.parametrize(
    "params",
    [None, {}, {"message": 7}, {"requestedSchema": "x"}, {"message": "x" * 3_000_000, "requestedSchema": [[[]]]}],
)
async def test_hostile_requests(open_pipeline: Open, params: Any) -> None:
    async with asking(open_pipeline, (FORM, params), (SAMPLE, params), size=(80, 24)) as it:
        await it.comes(JsonDialog)
        await it.press("escape")
        await it.comes(SamplingDialog)
        await it.press("escape")
        assert [type(answer) for answer in await it.answers()] == [dict, str]


async def test_keys_in_a_burst_keep_their_order(open_pipeline: Open) -> None:
    text = {"type": "string"}
    async with asking(open_pipeline, form(a=text, b=text, c=text)) as it:
        await it.comes(FormDialog)
        for key in (*"one", "down", *"two", "tab", *"three", "up", "!", "enter"):
            character = key if len(key) == 1 else None
            it.opened.app.post_message(events.Key(key, character))
        assert await it.answers() == [{"action": "accept", "content": {"a": "one", "b": "two!", "c": "three"}}]
