"""Secrets are masked wherever they are told, and nowhere else."""

from __future__ import annotations

from workbench.engine.events import Edited, Event, ServerOutput, WireMessage
from workbench.pipeline.parameters import ParameterSet, ParameterValue
from workbench.record.redaction import Redactor, masked

KEY = "sk-test-THIS-IS-NOT-A-KEY-000"


def redactor() -> Redactor:
    configs = {
        "openai": {"api_key": KEY, "headers": {"Authorization": "Bearer abcdefgh12345678"}, "max_tokens": "1234567"}
    }
    return Redactor.of(ParameterSet({"generation": {"backend_configs": ParameterValue(configs, "file")}}))


def test_texts() -> None:
    assert redactor().text(f"key {KEY}, Bearer abcdefgh12345678, 1234567") == "key sk-…000, Bearer abc…678, 1234567"
    assert masked("short-ish") == "…"


def test_a_password_in_an_address() -> None:
    url = ParameterValue({"url": "https://user:pw1234567@host/x"}, "file")
    masks = Redactor.of(ParameterSet({"db": {"conf": url}}))
    assert masks.text("401 for https://user:pw1234567@host/x") == "401 for https://user:…@host/x"


def test_values_are_copied_only_where_there_is_something_to_mask() -> None:
    value = {"a": [f"x{KEY}"], "n": 1}
    assert redactor().value(value) == {"a": ["xsk-…000"], "n": 1}
    assert value["a"] == [f"x{KEY}"]
    assert Redactor().value(value) is value


def test_events_are_masked_before_anyone_hears_of_them() -> None:
    heard: list[Event] = []
    emit = redactor().emit(heard.append)
    line = b'{"api_key": "' + KEY.encode() + b'"}'
    emit(WireMessage(server="g", way="sent", started=0, at=0, size=len(line), line=line))
    emit(ServerOutput(server="g", stream="stderr", text=f"refused: {KEY}"))
    assert KEY not in repr(heard)
    assert "sk-…000" in repr(heard)


def test_edits_are_masked_inside_values() -> None:
    heard: list[Event] = []
    redactor().emit(heard.append)(Edited(what="parameter", name="generation.x", old={"api_key": KEY}, new=[KEY]))
    assert KEY not in repr(heard)
