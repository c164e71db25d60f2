"""Expressions and templates that would take for ever or grow without end are refused in time."""

from __future__ import annotations

import time

import pytest

from workbench.engine.expressions import ExpressionError, evaluate, render
from workbench.engine.pool import VariablePool

POOL = VariablePool().with_count(4, "q_ls")


@pytest.mark.parametrize(
    "text",
    [
        "10 ** 10 ** 10",
        "'x' * 10000000000",
        "[1] * 10000000000",
        "'%1000000000d' % 1",
        "'x'.ljust(1000000000)",
        "'x'.zfill(1000000000)",
        "'{:1000000000}'.format(1)",
        "lipsum(n=100000)",
        "range(1000000000) | list",
        "''.__class__.__mro__",
        "q_ls.__class__",
    ],
)
def test_refused_at_once(text: str) -> None:
    begin = time.monotonic()
    with pytest.raises(ExpressionError):
        evaluate(text, POOL, {})
    assert time.monotonic() - begin < 3


def test_a_template_that_would_run_for_ever() -> None:
    loops = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
    assert "it took more than 1 s" in render(loops, POOL, {})


def test_what_is_meant_well_goes_through() -> None:
    assert evaluate("'%05d' % 7 + 'a'.ljust(3, '.')", POOL, {}) == "00007a.."
    assert render("{% for n in range(3) %}{{ n }}{% endfor %}", POOL, {}) == "012"
