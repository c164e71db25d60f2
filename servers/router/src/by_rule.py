"""States by rule: a Jinja2 expression for each, in the sandbox that conditions have."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from fastmcp.exceptions import ToolError
from jinja2 import TemplateSyntaxError, UndefinedError
from jinja2.sandbox import SecurityError

from workbench.engine.sandbox import TooMuch, environment, within

SECONDS = 5.0
"""How long the rules may take for one item."""


def chosen_by(rules: Mapping[str, str], otherwise: str, value: Any, item: int) -> str:
    """The first state whose rule holds for a value. Raises ``ToolError`` where none does, or one can't be evaluated."""
    for state, rule in rules.items():
        try:
            with within(SECONDS):
                if _compiled(rule)(value=value, item=item):
                    return state
        except TemplateSyntaxError as error:
            raise ToolError(f"the rule of `{state}` can't be read: `{rule}`: {error.message}") from None
        except (UndefinedError, SecurityError, TypeError, ValueError, ArithmeticError, TooMuch) as error:
            raise ToolError(f"the rule of `{state}` can't be evaluated for item [{item}]: `{rule}`: {error}") from None
    if not otherwise:
        raise ToolError(
            f"no rule holds for item [{item}], and no state `otherwise` is given; rules: {', '.join(rules)}"
        )
    return otherwise


@lru_cache(maxsize=64)
def _compiled(rule: str) -> Any:
    return environment().compile_expression(rule, undefined_to_none=False)
