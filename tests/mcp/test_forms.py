"""Forms of servers: what their schemas mean, and what may be sent."""

from __future__ import annotations

import time
from typing import Any

import pytest

from workbench.mcp.form_schema import read_form
from workbench.mcp.forms import LEFT_OUT, ChoiceField, ChoicesField, Field, Form, JsonField, Typed, Wrong
from workbench.mcp.patterns import fits


def form_of(required: Any = (), **properties: Any) -> Form:
    form = read_form({"type": "object", "properties": properties, "required": list(required)})
    assert form is not None
    return form


def one(about: Any, *, required: bool = False) -> Field:
    return form_of(["it"] if required else [], it=about).fields[0]


def typed(about: Any, text: str, *, required: bool = False) -> Any:
    """The value of a field after something was typed in it, or why it won't do."""
    field = one(about, required=required)
    assert isinstance(field, Typed)
    field.text = text
    return field.problem() or field.value()


@pytest.mark.parametrize(
    ("about", "text", "value"),
    [
        ({"type": "string"}, "a [b]", "a [b]"),
        ({"type": "string"}, "one␊two", "one\ntwo"),
        ({"type": "string"}, "", LEFT_OUT),
        ({"type": "string", "default": "x"}, "", ""),
        ({"type": "string", "minLength": 2, "maxLength": 3}, "a", "must have 2 to 3 characters, has 1"),
        ({"type": "string", "minLength": 2}, "a", "must have at least 2 characters, has 1"),
        ({"type": "string", "maxLength": 0.5, "minLength": "x", "format": ["x"]}, "a", "a"),
        ({"type": "string", "format": "email"}, "me", "must be an e-mail address"),
        ({"type": "string", "format": "email"}, "me@here.example", "me@here.example"),
        ({"type": "string", "format": "uri"}, "here", "must be an address with its scheme, as https://…"),
        ({"type": "string", "format": "uri"}, "https://here.example/x", "https://here.example/x"),
        ({"type": "string", "format": "date"}, "2026-02-30", "must be a date, as 2026-01-31"),
        ({"type": "string", "format": "date"}, "2026-02-28", "2026-02-28"),
        ({"type": "string", "format": "date-time"}, "2026-02-28T10:00:00Z", "2026-02-28T10:00:00Z"),
        ({"type": "string", "format": "date-time"}, "2026-02-28", "must be a date and time, as 2026-01-31T08:30:00Z"),
        ({"type": "integer"}, "12", 12),
        ({"type": "integer"}, "12.0", 12),
        ({"type": "integer"}, "1.5", "must be a whole number"),
        ({"type": "integer", "minimum": 1, "maximum": 5}, "6", "must be 1 to 5"),
        ({"type": "integer", "maximum": 10**400}, "9" * 300, int("9" * 300)),
        ({"type": "number", "minimum": 0.5}, "0.25", "must be at least 0.5"),
        ({"type": "number"}, "1e3", 1000.0),
        *(({"type": "number"}, text, "must be a number") for text in ("x", "true", "NaN", "1e999", "9" * 5000)),
        ({"type": "object"}, '{"a": [1]}', {"a": [1]}),
        ({}, "yes", "column 1: Expecting value"),
        (7, '"yes"', "yes"),
        ({"type": "array", "items": {"type": "string"}}, '["a"]', ["a"]),
        ({"type": ["string", "null"]}, "null", None),
    ],
)
def test_what_is_typed(about: Any, text: str, value: Any) -> None:
    found = typed(about, text)
    assert (type(found), found) == (type(value), value)


def test_what_must_be_filled_in() -> None:
    assert typed({"type": "string", "default": "x"}, "", required=True) == "must be filled in"
    form = form_of(["a"], a={"type": "integer"}, b={"type": "string"}, c={"type": "boolean", "default": False})
    assert form.first_wrong() == 0
    with pytest.raises(Wrong):
        form.content()
    form.fields[0].text = "3"  # type: ignore[attr-defined]
    assert form.first_wrong() is None
    assert form.content() == {"a": 3, "c": False}


@pytest.mark.parametrize("default", ["a\x1b[2Jb", "two\nlines", "x" * 100_000])
def test_a_default_that_a_line_can_not_show_is_sent_as_it_is(default: str) -> None:
    field = one({"type": "string", "default": default})
    assert isinstance(field, Typed)
    assert "\x1b" not in field.text
    assert len(field.text) < 2_100
    assert field.value() == default


@pytest.mark.parametrize(
    "about",
    [
        {"type": "string", "enum": ["r", "g"], "enumNames": ["Red", "Green"], "default": "g"},
        {"type": "string", "oneOf": [{"const": "r", "title": "Red"}, {"const": "g", "title": "Green"}], "default": "g"},
        {"anyOf": [{"const": "r", "title": "Red"}, {"const": "g", "title": "Green"}], "default": "g"},
        {"enum": ["r", "g"], "enumNames": ["Red", "Green", "Blue"], "default": "g"},
    ],
)
def test_one_of_several(about: Any) -> None:
    field = one(about, required=True)
    assert isinstance(field, ChoiceField)
    assert (field.label, field.value(), field.limits) == ("Green", "g", "Red or Green")
    field.move(1)
    assert field.value() == "r"
    field.move(-1)
    assert field.value() == "g"


def test_yes_no_and_not_said() -> None:
    field = one({"type": "boolean"})
    assert isinstance(field, ChoiceField)
    seen = []
    for _ in range(4):
        seen.append(field.value())
        field.move(1)
    assert seen == [LEFT_OUT, True, False, LEFT_OUT]
    must = one({"type": "boolean"}, required=True)
    assert must.problem() == "must be filled in"
    assert one({"enum": [1, 0, True], "default": True}).value() is True


@pytest.mark.parametrize(
    "items",
    [
        {"type": "string", "enum": ["r", "g", "b"]},
        {"anyOf": [{"const": "r", "title": "Red"}, {"const": "g"}, {"const": "b"}]},
    ],
)
def test_any_of_several(items: Any) -> None:
    field = one({"type": "array", "items": items, "minItems": 1, "maxItems": 2, "default": ["b", "nothing"]})
    assert isinstance(field, ChoicesField)
    assert field.value() == ["b"]
    field.picked = {0, 1, 2}
    assert field.problem() == "must be 1 to 2 of them, not 3"
    field.picked = {2, 0}
    assert field.value() == ["r", "b"]


@pytest.mark.parametrize("schema", [None, [], "form", {"type": "string"}, {"properties": ["a"]}])
def test_what_is_no_form(schema: Any) -> None:
    assert read_form(schema) is None


def test_a_form_of_nothing_is_a_question() -> None:
    form = read_form({"type": "object", "properties": {}, "required": 5})
    assert form is not None
    assert form.content() == {}


def test_hostile_schemas_are_read_in_no_time() -> None:
    many = [f"value {n}" for n in range(5_000)]
    begun = time.perf_counter()
    form = form_of(
        **{f"field {n}": {"type": "array", "items": {"enum": many}, "default": many} for n in range(20)},
        **{f"nested {n}": {"type": "object", "properties": {"a": {}}} for n in range(200)},
        big={"type": "string", "default": "x" * 5_000_000, "title": "\x1b]0;x\x07" * 1000},
        nan={"type": "number", "default": float("nan"), "minimum": float("inf")},
        json={"default": {"deep": [float("nan")]}},
    )
    for field in form.fields:
        assert isinstance(field.limits, str)
        assert isinstance(field.problem(), str)
    assert time.perf_counter() - begun < 3
    assert isinstance(form.fields[20], JsonField)
    assert form.first_wrong() is None


def test_json_that_can_not_be_sent() -> None:
    for text in ("[NaN]", '"\\ud800"', "1e999", "[" * 100_000):
        assert typed({}, text), text
        assert isinstance(typed({}, text), str)


async def test_patterns_are_tried_where_they_can_do_no_harm() -> None:
    assert await fits("^[a-z]+$", "abc")
    assert not await fits("^[a-z]+$", "Abc")
    assert await fits("[", "abc")
    begun = time.monotonic()
    assert await fits("(a+)+$", "a" * 60 + "!")
    assert time.monotonic() - begun < 5
