"""Reads the JSON schema of a form. It was written by a stranger: nothing in it is taken for granted."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, cast, get_args

from workbench.mcp.forms import (
    LEFT_OUT,
    Choice,
    ChoiceField,
    ChoicesField,
    Field,
    Form,
    Format,
    JsonField,
    NumberField,
    TextField,
    is_number,
)
from workbench.pipeline.secrets import is_secret_name

_YES_AND_NO = (Choice(True, "yes"), Choice(False, "no"))


def read_form(schema: Any) -> Form | None:
    """The form of a schema; None where it describes no object, and so names no fields.

    What is no text, number, yes or no, or choice (the only things that MCP allows) becomes a field to write JSON in.
    """
    if not isinstance(schema, Mapping) or schema.get("type", "object") != "object":
        return None
    properties = schema.get("properties", {})
    if not isinstance(properties, Mapping):
        return None
    required = schema.get("required")
    names = frozenset(name for name in required if isinstance(name, str)) if isinstance(required, list) else frozenset()
    return Form([_field(name, about, name in names) for name, about in properties.items()])


def _field(name: str, about: Any, is_required: bool) -> Field:
    if not isinstance(about, Mapping):
        about = {}
    title, description = _text(about, "title") or name, _text(about, "description") or ""
    default = about.get("default", LEFT_OUT)
    begin: dict[str, Any] = {"name": name, "title": title, "description": description, "is_required": is_required}
    choices = _choices(about)
    if choices is not None:
        return ChoiceField(**begin, default=default, choices=choices)
    make = _BY_TYPE.get(_text(about, "type") or "", _json_field)
    return make(begin, about, default)


def _text_field(begin: Mapping[str, Any], about: Mapping[str, Any], default: Any) -> Field:
    wanted = about.get("format")
    return TextField(
        **begin,
        default=default if isinstance(default, str) else LEFT_OUT,
        shortest=_count(about, "minLength"),
        longest=_count(about, "maxLength"),
        format=cast(Format, wanted) if wanted in get_args(Format) else None,
        pattern=_text(about, "pattern"),
        is_secret=is_secret_name(begin["name"]),
    )


def _number_field(begin: Mapping[str, Any], about: Mapping[str, Any], default: Any, *, is_whole: bool) -> Field:
    is_fit = is_number(default) and (not is_whole or isinstance(default, int))
    return NumberField(
        **begin,
        default=default if is_fit else LEFT_OUT,
        is_whole=is_whole,
        least=_number(about, "minimum"),
        most=_number(about, "maximum"),
    )


def _yes_or_no(begin: Mapping[str, Any], about: Mapping[str, Any], default: Any) -> Field:
    return ChoiceField(**begin, default=default, choices=_YES_AND_NO)


def _choices_field(begin: Mapping[str, Any], about: Mapping[str, Any], default: Any) -> Field:
    items = about.get("items")
    choices = _choices(items) if isinstance(items, Mapping) else None
    if choices is None:
        return _json_field(begin, about, default)
    return ChoicesField(
        **begin,
        default=default if isinstance(default, list) else LEFT_OUT,
        choices=choices,
        fewest=_count(about, "minItems"),
        most=_count(about, "maxItems"),
    )


def _json_field(begin: Mapping[str, Any], about: Mapping[str, Any], default: Any) -> Field:
    try:
        json.dumps(default if default is not LEFT_OUT else None)
    except (ValueError, RecursionError):
        default = LEFT_OUT
    return JsonField(**begin, default=default)


_BY_TYPE: Mapping[str, Callable[[Mapping[str, Any], Mapping[str, Any], Any], Field]] = {
    "string": _text_field,
    "integer": partial(_number_field, is_whole=True),
    "number": partial(_number_field, is_whole=False),
    "boolean": _yes_or_no,
    "array": _choices_field,
}


def _choices(about: Mapping[str, Any]) -> list[Choice] | None:
    """The values to choose from, each with what it is called: `enum` with `enumNames`, `oneOf` or `anyOf` consts."""
    values = about.get("enum")
    if isinstance(values, list) and values:
        names = about.get("enumNames")
        names = names if isinstance(names, list) else []
        return [Choice(value, _label(value, names[n] if n < len(names) else None)) for n, value in enumerate(values)]
    options = about.get("oneOf") or about.get("anyOf")
    if isinstance(options, list) and options and all(isinstance(one, Mapping) and "const" in one for one in options):
        return [Choice(one["const"], _label(one["const"], one.get("title"))) for one in options]
    return None


def _label(value: Any, title: Any) -> str:
    if isinstance(title, str) and title:
        return title
    return value if isinstance(value, str) else f"{value!r:.200}"


def _text(about: Mapping[str, Any], key: str) -> str | None:
    value = about.get(key)
    return value if isinstance(value, str) else None


def _number(about: Mapping[str, Any], key: str) -> float | None:
    value = about.get(key)
    return value if is_number(value) else None


def _count(about: Mapping[str, Any], key: str) -> int | None:
    value = about.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
