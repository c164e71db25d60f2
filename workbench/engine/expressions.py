"""Conditions: sandboxed Jinja2 expressions over variables, parameters, ``round``, ``visit`` and ``item``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from workbench.engine.cursor import Items
from workbench.engine.pool import VariablePool


class ExpressionError(Exception):
    """The expression can't be read or evaluated; ``str()`` says why."""


@lru_cache(maxsize=1)
def _environment() -> Any:
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    return ImmutableSandboxedEnvironment(undefined=StrictUndefined)


@lru_cache(maxsize=256)
def _compiled(text: str) -> tuple[Any, frozenset[str]]:
    from jinja2 import TemplateSyntaxError, meta

    environment = _environment()
    try:
        expression = environment.compile_expression(text, undefined_to_none=False)
        names = meta.find_undeclared_variables(environment.parse("{{ " + text + " }}"))
    except TemplateSyntaxError as error:
        raise ExpressionError(f"can't read `{text}`: {error.message}") from None
    return expression, frozenset(names)


def check_expression(text: str) -> None:
    """Raises ``ExpressionError`` where the text is no expression."""
    _compiled(text)


def holds(text: str, pool: VariablePool, items: Items | None, context: Mapping[str, Any]) -> bool:
    """Whether a condition holds; one with ``item`` in it holds if it does for any of the items.

    Raises ``ExpressionError`` where it can't be evaluated.
    """
    _, names = _compiled(text)
    if "item" not in names:
        return bool(evaluate(text, pool, context))
    candidates = items if items is not None else tuple(range(pool.count or 0))
    return any(bool(evaluate(text, pool, {**context, "item": item})) for item in candidates)


def evaluate(text: str, pool: VariablePool, context: Mapping[str, Any]) -> Any:
    """The value of an expression. Raises ``ExpressionError``."""
    from jinja2 import Undefined

    expression, _ = _compiled(text)
    parameters = {alias: {n: p.value for n, p in section.items()} for alias, section in pool.parameters.items()}
    memory = {f"memory_{v.name}": [s.value for s in v.saves()] for v in pool if f"memory_{v.name}" in text}
    variables = {variable.name: variable.value for variable in pool}
    try:
        value = expression(**{**variables, **memory, "parameters": parameters, **context})
        if isinstance(value, Undefined):
            str(value)  # raises with the name that is not known
    except Exception as error:
        raise ExpressionError(f"can't evaluate `{text}`: {error}") from None
    return value
