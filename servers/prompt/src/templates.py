"""Jinja2 templates for prompts: sandboxed, never HTML-escaped, and strict about names."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jinja2 import StrictUndefined, Template, TemplateError, TemplateSyntaxError, UndefinedError
from jinja2.sandbox import SandboxedEnvironment

# The model must see `<`, `&` and quotes as they are: escaping is for web pages.
_environment = SandboxedEnvironment(autoescape=False, undefined=StrictUndefined, keep_trailing_newline=False)


class PromptTemplateError(Exception):
    """A template can't be used. ``str()`` names the file and line."""


class PromptTemplate:
    """One template file, compiled. Values are put in as they are: braces inside them mean nothing."""

    def __init__(self, path: Path) -> None:
        """Read and compile. Raises ``PromptTemplateError`` for a missing file or a mistake in its syntax."""
        self.path = path
        if not path.is_file():
            raise PromptTemplateError(f"{path}: there is no such template (prompt server, `template` parameters)")
        source = path.read_text(encoding="utf-8-sig")
        try:
            self._template: Template = _environment.from_string(source)
        except TemplateSyntaxError as error:
            raise PromptTemplateError(f"{path}:{error.lineno}: {error.message}") from error

    def render(self, values: Mapping[str, Any]) -> str:
        """The prompt. Raises ``PromptTemplateError`` with line and name if a name is not in ``values``."""
        try:
            return self._template.render(values)
        except UndefinedError as error:
            there = ", ".join(sorted(values))
            raise PromptTemplateError(
                f"{self.path}:{_failing_line(error)}: {error.message}; the names there are: {there}"
            ) from error
        except (TemplateError, TypeError, ValueError) as error:
            raise PromptTemplateError(f"{self.path}:{_failing_line(error)}: {error}") from error


def _failing_line(error: BaseException) -> int:
    """The template's line in the traceback, which Jinja2 rewrites to it."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == "<template>"]
    return (frames[-1].lineno or 1) if frames else 1
