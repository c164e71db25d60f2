"""The traffic: a part of it, one message, its request."""

from __future__ import annotations

import json
from collections.abc import Callable

from tests.tui.support import RAG, Opened
from workbench.engine.events import ServerOutput, WireMessage
from workbench.tui.json_view import JsonView
from workbench.tui.traffic_log import TrafficLog

Open = Callable[..., Opened]


async def test_traffic_is_narrowed(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG)
    async with opened.running() as keys:
        await keys.press("c", "5", "f", *"visit:2 received")
        assert opened.screen._traffic.row_count() == 1
        await keys.press("enter")
        assert "filter: visit:2 received" in keys.text()
        await keys.press("f", *" xyz")
        assert "no line holds that" in keys.text()
        await keys.press("escape")
        assert opened.screen._traffic.row_count() == 9


async def test_the_request_of_an_answer_is_copied(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG)
    async with opened.running() as keys:
        await keys.press("n", "5", "end", "C")
        assert "copied the request" in keys.text()
        request = json.loads(opened.app.clipboard)
        assert request["method"] == "tools/call"
        assert request["params"]["name"] == "get_items"
        await keys.press("home", "C")
        assert "select a request or its answer" in keys.text()


async def test_a_message_is_highlighted(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG)
    async with opened.running() as keys:
        await keys.press("n", "5", "end", "enter")
        view = opened.app.screen.query_one(JsonView)
        looks = {part.text: part.look for number in range(view.row_count()) for part in view.row(number).left}
        assert looks['"jsonrpc"'] == "name"
        assert looks['"fig"'] == "value"
        assert looks["1"] == "key"


async def test_a_filter_that_is_typed_in_haste(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG)
    async with opened.running() as keys:
        await keys.press("c", "5")
        await keys.press_at_once("f", *"visit:2")
        await keys.settle()
        assert opened.screen._traffic.needle == "visit:2"


async def test_server_output_is_found_by_what_it_says(open_pipeline: Open) -> None:
    opened = open_pipeline(RAG)
    async with opened.running() as keys:
        opened.screen._model.traffic.take(ServerOutput(server="lab", stream="stderr", text="Warming up", visit=1), 1.0)
        await keys.press("5", "f", *"warming")
        assert opened.screen._traffic.row_count() == 1


def test_what_was_heard_before_stands_before() -> None:
    log = TrafficLog()
    log.take(_message("now", 9.0), 9.0)
    log.put_before([_message("then", 3.0), ServerOutput(server="lab", stream="stderr", text="old", visit=1)])
    assert [line.method for line in log.lines] == ["then", "", "now"]
    assert [line.at for line in log.lines] == [3.0, 3.0, 9.0]


def test_a_request_that_waits_is_not_taken_for_an_earlier_one_of_its_number() -> None:
    log = TrafficLog()
    log.take(_message("tools/call", 9.0), 9.0)
    log.put_before([_message("tools/call", 3.0), _answer(4.0)])
    log.take(_answer(11.0), 11.0)
    assert [(line.method, line.seconds) for line in log.lines] == [
        ("tools/call", None),
        ("tools/call", 1.0),
        ("tools/call", None),
        ("tools/call", 2.0),
    ]


def _message(method: str, at: float) -> WireMessage:
    about = {"started": at, "at": at, "size": 2, "visit": None, "id": 1}
    return WireMessage(server="lab", way="sent", method=method, line="{}", **about)


def _answer(at: float) -> WireMessage:
    about = {"started": at, "at": at, "size": 2, "visit": None, "id": 1}
    return WireMessage(server="lab", way="received", method=None, line="{}", **about)
