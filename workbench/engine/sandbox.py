"""The Jinja2 sandbox of conditions and templates: nothing in it reaches out, grows without end, or runs for ever."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

LARGEST = 1_000_000
"""The longest text, list or number of digits that an expression may make by a single operation."""

_PADDING = {"ljust", "rjust", "center", "zfill", "expandtabs"}
_WIDE = re.compile(r"\d{7,}")


class TooMuch(Exception):
    """An expression would take too long or grow too large; ``str()`` says what."""


@lru_cache(maxsize=2)
def environment(*, is_immutable: bool = True) -> Any:
    """For expressions, which may change no value, or for templates, which may gather texts in a list of their own."""
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment, SandboxedEnvironment

    base: Any = ImmutableSandboxedEnvironment if is_immutable else SandboxedEnvironment

    class Environment(base):  # type: ignore[misc]
        """Refuses powers, repetitions and padding that would take for ever."""

        intercepted_binops = frozenset(["**", "*", "%"])

        def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
            if operator == "**" and (abs(left) > LARGEST or abs(right) > 100):
                raise TooMuch("this power is too large")
            if operator == "*" and _repeated(left, right) > LARGEST:
                raise TooMuch("this repetition is too long")
            if operator == "%" and isinstance(left, str) and _WIDE.search(left):
                raise TooMuch("this text would be too long")
            return super().call_binop(context, operator, left, right)

        def call(self, context: Any, called: Any, *args: Any, **kwargs: Any) -> Any:
            name = getattr(called, "__name__", "")
            owner = getattr(getattr(called, "__wrapped__", called), "__self__", None)
            if isinstance(owner, str) and name in _PADDING and any(isinstance(a, int) and a > LARGEST for a in args):
                raise TooMuch("this text would be too long")
            if isinstance(owner, str) and name in ("format", "format_map") and _WIDE.search(owner):
                raise TooMuch("this text would be too long")
            return super().call(context, called, *args, **kwargs)

    # Not optimized: constants would be folded, and so computed, while the text is read.
    made = Environment(undefined=StrictUndefined, optimized=False)
    del made.globals["lipsum"]
    return made


def _repeated(left: Any, right: Any) -> int:
    """The length that a text or list has when it is repeated; 0 for numbers."""
    for many, times in ((left, right), (right, left)):
        if isinstance(many, str | bytes | list | tuple) and isinstance(times, int):
            return len(many) * times
    return 0


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raise ``TooMuch`` in what runs inside once it takes longer, whatever loop it is in."""
    until = time.monotonic() + seconds

    def look(frame: Any, event: str, argument: Any) -> Any:
        if time.monotonic() > until:
            raise TooMuch(f"it took more than {seconds:g} s")
        return look

    before = sys.gettrace()
    sys.settrace(look)
    try:
        yield
    finally:
        sys.settrace(before)
