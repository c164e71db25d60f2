"""Bytes to lines, lines to messages."""

from __future__ import annotations

import math
import time

import msgspec
import pytest

from workbench.mcp.framing import LineSplitter, decode, encode, members, read_envelope


def test_lines_are_cut_whatever_the_chunks() -> None:
    text = '{"a":"中文"}\n\nzweite Zeile\n'.encode()
    for size in range(1, len(text)):
        splitter, lines = LineSplitter(), []
        for begin in range(0, len(text), size):
            lines += [line for line, _ in splitter.feed(text[begin : begin + size], 1.0)]
        assert lines == ['{"a":"中文"}'.encode(), b"zweite Zeile"]


def test_a_line_knows_when_its_first_byte_came() -> None:
    splitter = LineSplitter()
    assert splitter.feed(b"one\ntw", 1.0) == [(b"one", 1.0)]
    assert splitter.feed(b"o", 2.0) == []
    assert splitter.feed(b"\nthree\n", 3.0) == [(b"two", 1.0), (b"three", 3.0)]
    assert splitter.rest() == b""


def test_the_rest_is_what_no_line_end_followed() -> None:
    splitter = LineSplitter()
    splitter.feed(b"a\nb", 1.0)
    splitter.feed(b"c", 1.0)
    assert splitter.rest() == b"bc"
    assert splitter.rest() == b""


def test_a_long_line_takes_linear_time() -> None:
    splitter, chunk = LineSplitter(), b"x" * 65536
    begun = time.perf_counter()
    for _ in range(500):
        assert splitter.feed(chunk, 0.0) == []
    [(line, _)] = splitter.feed(b"\n", 0.0)
    assert len(line) == 500 * 65536
    assert time.perf_counter() - begun < 1.0


@pytest.mark.parametrize("line", [b"Loading...", b'{"loss": 1}', b"[1]", b"12", b'"text"', b"{", b"\xff\xfe", b"null"])
def test_what_is_no_message(line: bytes) -> None:
    assert read_envelope(line) is None


def test_messages() -> None:
    request = read_envelope(b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{}}')
    assert request is not None
    assert (request.id, request.method) == (1, "ping")
    answer = read_envelope(b'{"id":"x","result":{"a":[1]}}')
    assert answer is not None
    assert decode(answer.result) == {"a": [1]}


def test_what_strict_json_lacks_is_read() -> None:
    answer = read_envelope(b'{"id":1,"result":{"a":[NaN,-Infinity],"b":"\\ud800"}}')
    assert answer is not None
    value = decode(answer.result)
    assert math.isnan(value["a"][0])
    assert value["a"][1] == -math.inf
    assert value["b"] == "\ud800"
    assert set(members(answer.result)) == {"a", "b"}


def test_members_of_what_has_none() -> None:
    assert members(msgspec.Raw(b"[1]")) == {}
    assert members(msgspec.Raw()) == {}


def test_numbers_survive() -> None:
    value = {"a": [float("nan"), None, 12345678901234567890123, 0.1], "b": "中 null"}
    back = decode(encode(value))
    assert math.isnan(back["a"][0])
    assert back["a"][1:] == value["a"][1:]
    assert back["b"] == value["b"]
    assert "中" in encode(value).decode()


@pytest.mark.parametrize("value", [{"a": object()}, "\ud800", {1, 2}])
def test_what_has_no_json_form(value: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        encode(value)
