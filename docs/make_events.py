"""Makes `docs/events.md` and `docs/events.schema.json` of the event classes: `uv run python docs/make_events.py`.

The example lines are in `docs/events.examples.jsonl`; `docs/record_events.py` records them anew.
"""

from __future__ import annotations

import ast
import inspect
import json
import types
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from workbench.engine import event_log, events
from workbench.engine.event_log import Envelope
from workbench.engine.events import SCHEMA_VERSION, Event

DOCS = Path(__file__).parent
HEAD = """\
# Events

`ragwb run --events` prints each of these as one line of JSON on stdout, and nothing else there. `ragwb resume SESSION
--run --events` does the same. `workbench.open(..., on_event=...)` gives them to a program as objects: `event.type` is
the type, the attributes are the fields, and `event.body()` is what is printed, without the envelope.

A field without a value is left out: those marked `?` may be. Ignore types and fields that you don't know: new ones may
come, and the version `v` stays. Texts that are known to be secret are masked. `events.schema.json` is the JSON Schema
of a line.

This file is made of the classes in `workbench/engine/events.py` by `docs/make_events.py`.
"""
JSON_TYPES: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    bytes: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    Any: {},
}


def event_classes() -> list[type[Event]]:
    """Every class that has a type of its own, in the order of the file."""
    known = [value for value in vars(events).values() if inspect.isclass(value) and issubclass(value, Event)]
    return [value for value in known if "type" in vars(value)]


def described(cls: type[Struct]) -> Iterator[tuple[str, Any, str]]:
    """The names of the fields of a class, each with its type and what its text says."""
    hints = typing.get_type_hints(cls)
    texts: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        texts |= _texts(base)
    for name in cls.__struct_fields__:
        yield name, hints[name], texts[name]


def _texts(cls: type) -> dict[str, str]:
    """The texts under the fields of one class."""
    if cls.__module__ not in (events.__name__, event_log.__name__):
        return {}
    (body,) = (node for node in ast.parse(inspect.getsource(cls)).body if isinstance(node, ast.ClassDef))
    found = {}
    for node, following in zip(body.body, body.body[1:], strict=False):
        is_text = isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant)
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and is_text:
            found[node.target.id] = " ".join(str(following.value.value).split())
    return found


def is_optional(hint: Any) -> bool:
    """Whether a field of this type may be left out."""
    return hint is Any or (isinstance(hint, types.UnionType) and type(None) in hint.__args__)


def schema_of(hint: Any) -> dict[str, Any]:
    """The JSON Schema of a type, as `Event.body` writes it."""
    if hint in JSON_TYPES:
        return JSON_TYPES[hint]
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if isinstance(hint, types.UnionType):
        kinds = [schema_of(argument) for argument in arguments if argument is not type(None)]
        return kinds[0] if len(kinds) == 1 else {"type": [kind["type"] for kind in kinds]}
    if origin is typing.Literal:
        return {"enum": list(arguments)}
    if origin is tuple:
        return {"type": "array", "items": schema_of(arguments[0])}
    if inspect.isclass(origin) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": schema_of(arguments[1])}
    raise TypeError(f"no JSON type is known for {hint}")


def in_words(hint: Any) -> str:
    """A type for someone to read."""
    schema = schema_of(hint)
    if "enum" in schema:
        return " \\| ".join(f'`"{value}"`' for value in schema["enum"])
    kind = schema.get("type", "any value")
    if isinstance(kind, list):
        return " or ".join(kind)
    if kind == "array":
        return f"list of {schema['items']['type']}s"
    return {"object": "map"}.get(kind, kind)


def schema() -> dict[str, Any]:
    """The JSON Schema of one line."""
    definitions = {}
    for cls in event_classes():
        found = {**_properties(Envelope), **_properties(cls), "type": {"const": cls.type}}
        found["v"] = {**found["v"], "const": SCHEMA_VERSION}
        required = [name for of in (Envelope, cls) for name, hint, _ in described(of) if not is_optional(hint)]
        definitions[cls.type] = {
            "description": _sentence(cls),
            "type": "object",
            "required": list(dict.fromkeys(required)),
            "properties": found,
        }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "One line of ragwb run --events",
        "oneOf": [{"$ref": f"#/$defs/{name}"} for name in definitions],
        "$defs": definitions,
    }


def _properties(cls: type[Struct]) -> dict[str, Any]:
    return {name: {**schema_of(hint), "description": text} for name, hint, text in described(cls)}


def page(examples: Mapping[str, str]) -> str:
    """The text of `docs/events.md`."""
    parts = [HEAD, "## The envelope\n", "Every line has these besides its own fields.\n", _table(Envelope)]
    parts += ["## The events\n", ", ".join(f"[`{c.type}`](#{c.type})" for c in event_classes()) + "\n"]
    for cls in event_classes():
        parts += [f"### {cls.type}\n", f"{_sentence(cls)}\n", _table(cls)]
        if cls.type in examples:
            parts.append(f"```json\n{examples[cls.type]}\n```\n")
    return "\n".join(parts)


def _sentence(cls: type) -> str:
    return " ".join((inspect.getdoc(cls) or "").split())


def _table(cls: type[Struct]) -> str:
    lines = ["| field | type | meaning |", "|---|---|---|"]
    for name, hint, text in described(cls):
        mark = "?" if is_optional(hint) else ""
        lines.append(f"| `{name}`{mark} | {in_words(hint)} | {text} |")
    return "\n".join(lines) + "\n"


def recorded_examples() -> dict[str, str]:
    """Type -> a line that was printed."""
    lines = (DOCS / "events.examples.jsonl").read_text(encoding="utf-8").splitlines()
    return {json.loads(line)["type"]: line for line in lines}


def made() -> dict[str, str]:
    """File name -> text, of all that is made."""
    schema_text = json.dumps(schema(), indent=1, ensure_ascii=False) + "\n"
    return {"events.md": page(recorded_examples()), "events.schema.json": schema_text}


if __name__ == "__main__":
    for name, text in made().items():
        (DOCS / name).write_text(text, encoding="utf-8")
