"""Servers' Jinja2 templates for prompts: sandboxed, never HTML-escaped, and strict about names."""

from __future__ import annotations

import time
import traceback
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from fastmcp.exceptions import ToolError
from jinja2 import Template, TemplateError, TemplateSyntaxError, UndefinedError

from workbench.engine.sandbox import TooMuch, environment
from workbench.mcp.kit import check_lengths
from workbench.mcp.paths import find_file, project
from workbench.mcp.shown_files import may_be_shown

_LONGEST = 16_000_000
"""Characters of a prompt; no model reads as many."""
_SECONDS = 10.0
"""For one prompt."""


class PromptTemplateError(ToolError):
    """A template can't be used. ``str()`` names the file and line."""


class PromptTemplate:
    """One template file, compiled. Values are put in as they are: braces inside them mean nothing."""

    def __init__(self, path: Path) -> None:
        """Read and compile. Raises ``PromptTemplateError`` for a missing file or a mistake in its syntax."""
        self.path = path
        if not path.is_file():
            raise PromptTemplateError(f"{path}: there is no such template")
        try:
            self._template = _compiled(path.read_text(encoding="utf-8-sig"))
        except UnicodeDecodeError as error:
            raise PromptTemplateError(f"{path}: not UTF-8 ({error.reason}); save the file as UTF-8") from error
        except TemplateSyntaxError as error:
            raise PromptTemplateError(f"{path}:{error.lineno}: {error.message}") from error
        except RecursionError as error:
            raise PromptTemplateError(f"{path}: it is nested too deeply ({error})") from error

    def render(self, values: Mapping[str, Any]) -> str:
        """The prompt. Raises ``PromptTemplateError`` with line and name if a name is not in ``values``."""
        try:
            return _within_bounds(self._template.generate(values))
        except UndefinedError as error:
            there = ", ".join(sorted(values)) or "none"
            raise PromptTemplateError(
                f"{self.path}:{_failing_line(error)}: {error.message}; the names there are: {there}"
            ) from error
        except (TooMuch, TemplateError, TypeError, ValueError, ArithmeticError, LookupError, RecursionError) as error:
            raise PromptTemplateError(f"{self.path}:{_failing_line(error)}: {error}") from error


def template_file(template: str) -> Path:
    """Where a template lies. Raises ``PromptTemplateError`` for one that no model may be shown."""
    path = find_file(template)
    if not may_be_shown(path):
        raise PromptTemplateError(f"{template}: a template must lie in the project folder, {project()}")
    return path


def render_items(template: str, **columns: Sequence[Any]) -> list[str]:
    """One prompt per item; ``columns`` are the template's variables, one entry per item each.

    Raises ``PromptTemplateError``; ``ToolError`` for lists of unequal length.
    """
    compiled = PromptTemplate(template_file(template))
    check_lengths(**columns)
    return [compiled.render(dict(zip(columns, values, strict=True))) for values in zip(*columns.values(), strict=True)]


@lru_cache(maxsize=64)
def _compiled(source: str) -> Template:
    """Compiling takes longer than a render, and loops ask for the same template every round."""
    # Nothing is escaped: the model must see `<`, `&` and quotes as they are.
    return environment(is_immutable=False).from_string(source)  # type: ignore[no-any-return]


def _within_bounds(pieces: Iterable[str]) -> str:
    """The prompt of its pieces. Raises ``TooMuch`` for a loop that makes more and more of them."""
    until, size, made = time.monotonic() + _SECONDS, 0, []
    for piece in pieces:
        size += len(piece)
        if size > _LONGEST:
            raise TooMuch(f"the prompt has more than {_LONGEST // 1_000_000} million characters")
        if time.monotonic() > until:
            raise TooMuch(f"the prompt took more than {_SECONDS:g} s")
        made.append(piece)
    return "".join(made)


def _failing_line(error: BaseException) -> int:
    """The template's line in the traceback, which Jinja2 rewrites to it."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == "<template>"]
    return (frames[-1].lineno or 1) if frames else 1
