"""Bytes of an event stream, however they are cut, become the same events."""

from __future__ import annotations

import pytest

from workbench.mcp.remote.events import EventSplitter

STREAM = (
    ": hello\r\n\r\nid: 1\r\nretry: 250\r\ndata:\r\n\r\nevent: endpoint\ndata: /messages?id=ä\n\n"
    'data: {"a":\ndata:  1}\nid: 2\nunknown: x\n\n\n\nevent: message\ndata: last\n\ndata: cut off'
).encode()
EVENTS = [
    ("message", b"", "1", 0.25),
    ("endpoint", "/messages?id=ä".encode(), None, None),
    ("message", b'{"a":\n 1}', "2", None),
    ("message", b"last", None, None),
]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_however_it_is_cut(size: int) -> None:
    splitter = EventSplitter()
    pieces = [STREAM[start : start + size] for start in range(0, len(STREAM), size)]
    events = [event for n, piece in enumerate(pieces) for event in splitter.feed(piece, float(n))]
    assert [(event.kind, event.data, event.id, event.retry) for event in events] == EVENTS


def test_when_an_event_began() -> None:
    splitter = EventSplitter()
    assert splitter.feed(b": comment\n\nda", 1.0) == []
    assert splitter.feed(b"ta: x\n", 2.0) == []
    [event] = splitter.feed(b"\n", 3.0)
    assert event.started == 1.0
