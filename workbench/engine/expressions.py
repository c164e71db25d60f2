"""Conditions: sandboxed Jinja2 expressions over variables, parameters, ``round``, ``visit`` and ``item``."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from workbench.engine.cursor import Items
from workbench.engine.pool import VariablePool
from workbench.engine.sandbox import environment, within


class ExpressionError(Exception):
    """The expression can't be read or evaluated; ``str()`` says why."""


_FILTERS = {"len": "q_ls | length", "sum": "scores | sum", "min": "scores | min", "max": "scores | max"}
_FILTERS |= {"str": "item | string", "int": "name | int", "sorted": "names | sort", "any": "names | select | list"}
"""What is written by those who think that a condition is Python."""
SECONDS = 1.0
"""How long a condition may take for all its items: it is evaluated between two steps, where the run waits for it."""


@lru_cache(maxsize=256)
def _compiled(text: str) -> tuple[Any, frozenset[str]]:
    from jinja2 import TemplateSyntaxError, meta, nodes

    sandbox = environment()
    try:
        expression = sandbox.compile_expression(text, undefined_to_none=False)
        tree = sandbox.parse("{{ " + text + " }}")
        names = meta.find_undeclared_variables(tree)
    except TemplateSyntaxError as error:
        raise ExpressionError(f"can't read `{text}`: {error.message}") from None
    except (RecursionError, SyntaxError):
        raise ExpressionError(f"can't read `{text:.60}`: it is nested too deeply") from None
    for call in tree.find_all(nodes.Call):
        if isinstance(call.node, nodes.Name) and call.node.name in _FILTERS:
            name = call.node.name
            raise ExpressionError(
                f"can't read `{text}`: there is no {name}(); this is Jinja2, with filters: `{_FILTERS[name]}`"
            )
    return expression, frozenset(names)


def check_expression(text: str) -> None:
    """Raises ``ExpressionError`` where the text is no expression."""
    _compiled(text)


def check_template(text: str) -> None:
    """Raises ``ExpressionError`` where the text is no template."""
    from jinja2 import TemplateSyntaxError

    try:
        environment().parse(text)
    except TemplateSyntaxError as error:
        raise ExpressionError(f"can't read the template `{text}`: {error.message}") from None


def holding_item(text: str, pool: VariablePool, items: Items | None, context: Mapping[str, Any]) -> int | None:
    """The first item for which a condition holds; -1 for one without ``item`` in it; None where it does not hold.

    Raises ``ExpressionError`` where it can't be evaluated.
    """
    _, names = _compiled(text)
    if "item" not in names:
        return -1 if evaluate(text, pool, context) else None
    known = _named(names, pool, context)
    candidates = items if items is not None else tuple(range(pool.count or 0))
    until = time.monotonic() + SECONDS
    for number, item in enumerate(candidates):
        if _value(text, {**known, "item": item}):
            return item
        if time.monotonic() > until:
            raise ExpressionError(
                f"`{text}` took more than {SECONDS:g} s for {number + 1} of {len(candidates)} items: make it simpler"
            )
    return None


def render(text: str, pool: VariablePool, context: Mapping[str, Any]) -> str:
    """A log template, filled in; what can't be is said in its place."""
    try:
        from jinja2 import meta

        sandbox = environment()
        names = meta.find_undeclared_variables(sandbox.parse(text))
        known = _named(names, pool, context)
        with within(SECONDS):
            return str(sandbox.from_string(text).render(known))
    except Exception as error:
        return f"can't fill in `{text}`: {error}"


def _named(names: Iterable[str], pool: VariablePool, context: Mapping[str, Any]) -> dict[str, Any]:
    """The values behind the names in a text: variables, memory lists, ``parameters``, and what the context knows."""
    found: dict[str, Any] = {}
    for name in names:
        variable, saved = pool.get(name), pool.get(name.removeprefix("memory_"))
        if variable is not None:
            found[name] = variable.value
        elif saved is not None:
            found[name] = [save.value for save in saved.saves()]
        elif name == "parameters":
            sections = pool.parameters.items()
            found[name] = {alias: {n: p.value for n, p in section.items()} for alias, section in sections}
    return {**found, **context}


def evaluate(text: str, pool: VariablePool, context: Mapping[str, Any]) -> Any:
    """The value of an expression. Raises ``ExpressionError``."""
    known = _named(_compiled(text)[1], pool, context)
    with within(SECONDS):
        return _value(text, known)


def _value(text: str, known: Mapping[str, Any]) -> Any:
    from jinja2 import Undefined

    expression, _ = _compiled(text)
    try:
        value = expression(**known)
        if isinstance(value, Undefined):
            str(value)  # raises with the name that is not known
    except Exception as error:
        raise ExpressionError(f"can't evaluate `{text:.200}`: {error}") from None
    return value
