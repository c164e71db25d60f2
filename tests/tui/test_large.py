"""Large values and long lists: opened at once, and only what is in view is looked at."""

from __future__ import annotations

import time
from collections.abc import Callable

from tests.tui.fakes import NOW
from tests.tui.support import LOOP, Opened
from workbench.engine.events import WireMessage
from workbench.tui.text_view import TextView
from workbench.tui.traffic_log import KEPT_BYTES, KEPT_LINES, TrafficLog
from workbench.tui.values_view import Root, ValuesView
from workbench.tui.viewer import ValueViewer

Open = Callable[..., Opened]


async def test_two_million_characters_in_one_line(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    opened.tools.lab.items = ["字" * 2_000_000, "a" * 5_000_000]
    async with opened.running() as keys:
        await keys.press("n", "3", "right", "down")
        assert "text 2.0M" in keys.text()
        begun = time.monotonic()
        await keys.press("enter")
        assert time.monotonic() - begun < 1
        assert "2,000,000 characters" in keys.text()
        begun = time.monotonic()
        await keys.press("end", "home", "pagedown")
        assert time.monotonic() - begun < 1
        await keys.press("y")
        assert opened.app.clipboard == "字" * 2_000_000
        await keys.press("escape", "down", "enter", "end")
        assert "5,000,000 characters" in keys.text()


async def test_a_long_list_opens_page_by_page(open_pipeline: Open) -> None:
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        viewer = ValueViewer("many", [f"entry {n}" for n in range(1_000_000)])
        opened.app.push_screen(viewer)
        await keys.settle()
        view = viewer.rows_in_front()
        assert isinstance(view, ValuesView)
        assert view.row_count() == 101
        await keys.press("down", "right", "down", "right", "down")
        assert view.named_value == ("many[0]", "entry 0")
        assert view.find("entry 765432", 1)
        assert view.named_value == ("many[765432]", "entry 765432")


async def test_wrapping_loses_nothing(open_pipeline: Open) -> None:
    text = "short\n" + "x" * 500 + "\n\n" + "北灯塔的看守人" * 40 + "\n" + "mixed 字" * 1_000
    opened = open_pipeline(LOOP)
    async with opened.running() as keys:
        viewer = ValueViewer("text", text)
        opened.app.push_screen(viewer)
        await keys.settle()
        view = viewer.rows_in_front()
        assert isinstance(view, TextView)
        assert "".join(view.row_text(n) for n in range(view.row_count())) == text.replace("\n", "")


async def test_values_show_what_is_set(open_pipeline: Open) -> None:
    view = ValuesView()
    view.show([Root("a", [1, 2])])
    assert view.row_count() == 1


def test_the_traffic_log_is_bounded() -> None:
    log = TrafficLog()
    for number in range(KEPT_LINES + 10):
        log.take(_message(number, 100), NOW)
    assert len(log.lines) <= KEPT_LINES
    for number in range(10):
        log.take(_message(number, KEPT_BYTES // 4), NOW)
    assert sum(line.event.size for line in log.lines if isinstance(line.event, WireMessage)) <= KEPT_BYTES


def test_an_answer_stands_beside_its_request() -> None:
    log = TrafficLog()
    log.take(_message(7, 10), NOW)
    log.take(WireMessage(server="lab", way="received", started=NOW, at=NOW + 1.5, size=10, line=b"{}", id=7), NOW)
    assert log.lines[-1].method == "tools/call"
    assert log.lines[-1].seconds == 1.5


def _message(number: int, size: int) -> WireMessage:
    return WireMessage(
        server="lab", way="sent", started=NOW, at=NOW, size=size, line=b"{}", method="tools/call", id=number
    )
