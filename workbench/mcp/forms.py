"""A form that a server asks the user to fill in: its fields, what stands in them, and whether that will do."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Final, Literal

from workbench.engine.visible import one_line

SHOWN_CHARACTERS = 2_000
_PATTERN_CHARACTERS = 60
_NAMED_CHOICES = 20


class Wrong(ValueError):
    """What stands in a field won't do; ``str()`` says why, in a few words."""


class LeftOut:
    """Stands for the value of a field that is not sent."""


LEFT_OUT: Final = LeftOut()


@dataclass
class Field:
    """One field. ``default`` is what it begins with: a value that it may have, or ``LEFT_OUT``."""

    name: str
    title: str
    description: str = ""
    is_required: bool = False
    default: Any = LEFT_OUT

    @property
    def limits(self) -> str:
        """In words what may stand in it."""
        raise NotImplementedError

    def value(self) -> Any:
        """What is sent for it, or ``LEFT_OUT``. Raises ``Wrong``."""
        raise NotImplementedError

    def problem(self) -> str:
        """Why it can't be sent as it is; empty if it can."""
        try:
            self.value()
        except Wrong as wrong:
            return str(wrong)
        return ""

    def _nothing(self) -> LeftOut:
        if self.is_required:
            raise Wrong("must be filled in")
        return LEFT_OUT


@dataclass
class Typed(Field):
    """A field that is typed. What its default holds that a line can't show counts as long as nothing else is typed."""

    text: str = field(init=False)
    first_text: str = field(init=False)
    """The text it begins with."""

    def __post_init__(self) -> None:
        shown = self._written(self.default) if self.default is not LEFT_OUT else ""
        self.text = self.first_text = one_line(shown, SHOWN_CHARACTERS)

    def value(self) -> Any:
        if self.text == self.first_text and self.default is not LEFT_OUT:
            return self.default
        if not self.text:
            return self._empty()
        return self._read(self.text.replace("␊", "\n").replace("␉", "\t"))

    def _empty(self) -> Any:
        return self._nothing()

    def _written(self, value: Any) -> str:
        return json.dumps(value, ensure_ascii=False)

    def _read(self, text: str) -> Any:
        raise NotImplementedError


Format = Literal["email", "uri", "date", "date-time"]
_FORMATS: dict[Format, str] = {
    "email": "an e-mail address",
    "uri": "an address with its scheme, as https://…",
    "date": "a date, as 2026-01-31",
    "date-time": "a date and time, as 2026-01-31T08:30:00Z",
}


@dataclass
class TextField(Typed):
    """``shortest`` and ``longest`` are numbers of characters."""

    shortest: int | None = None
    longest: int | None = None
    format: Format | None = None
    pattern: str | None = None
    is_secret: bool = False
    """Whether it asks for a password, a token or the like, to judge by its name."""
    mismatch: str | None = None
    """A text that was found not to fit the pattern; see ``patterns.py``."""

    @property
    def limits(self) -> str:
        words = [_FORMATS[self.format] if self.format is not None else "text"]
        if self.shortest is not None or self.longest is not None:
            words.append(f"{_range(self.shortest, self.longest)} characters")
        if self.pattern is not None:
            words.append(f"like {one_line(self.pattern, _PATTERN_CHARACTERS)}")
        return ", ".join(words)

    def _written(self, value: Any) -> str:
        return str(value)

    def _empty(self) -> Any:
        """To empty a field that has a default is to say something: left out, it would be taken as the default."""
        return self._read("") if self.default is not LEFT_OUT and not self.is_required else self._nothing()

    def _read(self, text: str) -> str:
        if not _is_within(len(text), self.shortest, self.longest):
            raise Wrong(f"must have {_range(self.shortest, self.longest)} characters, has {len(text)}")
        if self.format is not None and text and not _has_format(text, self.format):
            raise Wrong(f"must be {_FORMATS[self.format]}")
        if text == self.mismatch:
            raise Wrong(f"must be like {one_line(self.pattern or '', _PATTERN_CHARACTERS)}")
        return text


@dataclass
class NumberField(Typed):
    is_whole: bool = False
    least: float | None = None
    most: float | None = None

    @property
    def limits(self) -> str:
        has_range = self.least is not None or self.most is not None
        return self._kind + (f", {_range(self.least, self.most)}" if has_range else "")

    @property
    def _kind(self) -> str:
        return "a whole number" if self.is_whole else "a number"

    def _read(self, text: str) -> int | float:
        try:
            number = json.loads(text.strip())
        except (ValueError, RecursionError):
            raise Wrong(f"must be {self._kind}") from None
        if not is_number(number) or (self.is_whole and number != int(number)):
            raise Wrong(f"must be {self._kind}")
        if not _is_within(number, self.least, self.most):
            raise Wrong(f"must be {_range(self.least, self.most)}")
        return int(number) if self.is_whole else number


@dataclass
class JsonField(Typed):
    """Whatever no other field is for: written as JSON."""

    @property
    def limits(self) -> str:
        return 'JSON: "a text" in quotes, a number, true, [a list], {"a": "map"}'

    def _read(self, text: str) -> Any:
        return read_json(text)


@dataclass(frozen=True)
class Choice:
    value: Any
    label: str


@dataclass
class ChoiceField(Field):
    """One of several; ``picked`` is the number of the one that is chosen."""

    choices: Sequence[Choice] = ()
    picked: int | None = field(init=False)

    def __post_init__(self) -> None:
        wanted = repr(self.default)  # as Python writes them, True is not 1
        self.picked = next((n for n, one in enumerate(self.choices) if repr(one.value) == wanted), None)

    @property
    def limits(self) -> str:
        return f"one of {_some_labels(self.choices)}" if len(self.choices) > 3 else _some_labels(self.choices, " or ")

    @property
    def label(self) -> str:
        return self.choices[self.picked].label if self.picked is not None else ""

    def move(self, step: int) -> None:
        """To the next choice (1) or the one before (-1); a field that may be left out has that as one, too."""
        stops: list[int | None] = [*range(len(self.choices))]
        if not self.is_required or self.picked is None:
            stops.append(None)
        self.picked = stops[(stops.index(self.picked) + step) % len(stops)]

    def value(self) -> Any:
        return self.choices[self.picked].value if self.picked is not None else self._nothing()


@dataclass
class ChoicesField(Field):
    """Any of several; ``picked`` are the numbers of those that are chosen."""

    choices: Sequence[Choice] = ()
    fewest: int | None = None
    most: int | None = None
    picked: set[int] = field(init=False)

    def __post_init__(self) -> None:
        wanted = {repr(value) for value in self.default} if isinstance(self.default, list) else set()
        self.picked = {n for n, one in enumerate(self.choices) if repr(one.value) in wanted}

    @property
    def limits(self) -> str:
        has_range = self.fewest is not None or self.most is not None
        return f"{_range(self.fewest, self.most) if has_range else 'any'} of {_some_labels(self.choices)}"

    @property
    def label(self) -> str:
        return ", ".join(self.choices[n].label for n in sorted(self.picked)[:_NAMED_CHOICES])

    def value(self) -> Any:
        if not self.picked and not self.is_required and self.default is LEFT_OUT:
            return LEFT_OUT
        if not _is_within(len(self.picked), self.fewest, self.most):
            raise Wrong(f"must be {_range(self.fewest, self.most)} of them, not {len(self.picked)}")
        return [self.choices[n].value for n in sorted(self.picked)]


@dataclass
class Form:
    """The fields of one question; they are filled in here."""

    fields: list[Field]

    def first_wrong(self) -> int | None:
        """The number of the first field that can't be sent as it is."""
        return next((number for number, one in enumerate(self.fields) if one.problem()), None)

    def content(self) -> dict[str, Any]:
        """What is sent. Raises ``Wrong``."""
        values = {one.name: one.value() for one in self.fields}
        return {name: value for name, value in values.items() if value is not LEFT_OUT}


def read_json(text: str) -> Any:
    """A value written as JSON. Raises ``Wrong``."""
    try:
        value = json.loads(text)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, " if "\n" in text else ""
        raise Wrong(f"{place}column {error.colno}: {error.msg}") from None
    except (ValueError, RecursionError) as error:
        raise Wrong(f"can't be sent as JSON: {error}") from None
    return value


def is_number(value: Any) -> bool:
    """A number of JSON, and not larger than numbers are anywhere."""
    try:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:
        return False


def _is_within(number: float, least: float | None, most: float | None) -> bool:
    return (least is None or number >= least) and (most is None or number <= most)


def _range(least: float | None, most: float | None) -> str:
    """``3 to 10``, ``at least 3``, ``at most 10``."""
    if least is not None and most is not None:
        return f"{least}" if least == most else f"{least} to {most}"
    return f"at least {least}" if least is not None else f"at most {most}"


def _some_labels(choices: Sequence[Choice], joint: str = ", ") -> str:
    labels = [choice.label[:40] for choice in choices[:6]]
    more = [f"{len(choices) - 6:,} more"] if len(choices) > 6 else []
    return joint.join([*labels, *more])


def _has_format(text: str, wanted: Format) -> bool:
    if wanted == "email":
        return re.fullmatch(r"[^@\s]+@[^@\s]+", text) is not None
    if wanted == "uri":
        return re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*:\S+", text) is not None
    try:
        if wanted == "date":
            date.fromisoformat(text)
            return len(text) == len("2026-01-31")
        return datetime.fromisoformat(text).tzinfo is not None and "T" in text.upper()
    except ValueError:
        return False
