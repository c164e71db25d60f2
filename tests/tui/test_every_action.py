"""No command of the registry is without a test that presses one of its keys."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from workbench.tui.actions import SCREENS, Action, bindings

ACTIONS = {action.setting: action for actions in SCREENS for action in actions}
_PRESSING = {"press", "press_at_once", "drag", "parametrize"}


def pressed() -> set[str]:
    """Every text that some test of the screen gives to the keyboard, or to a picture that is taken after keys."""
    found: set[str] = set()
    for file in Path(__file__).parent.glob("test_*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and _name(node.func) in _PRESSING:
                found |= {
                    inner.value
                    for inner in ast.walk(node)
                    if isinstance(inner, ast.Constant) and isinstance(inner.value, str)
                }
    return found


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


@pytest.mark.parametrize("action", ACTIONS.values(), ids=ACTIONS)
def test_has_a_test(action: Action) -> None:
    keys = {*action.keys, *(binding.key for binding in bindings([action]))}
    assert keys & pressed(), f"press {' or '.join(action.keys)} in a test"
