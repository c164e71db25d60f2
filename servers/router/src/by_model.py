"""States chosen by a model: what it is asked, and what its answer means."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from workbench.mcp.client_model import Unclear
from workbench.mcp.thinking import separated


def asked(value: Any, states: Mapping[str, str], question: str) -> str:
    """The prompt: the states with their descriptions, and the value that is to be given one of them."""
    described = "\n".join(f"- {state}: {description}" for state, description in states.items())
    task = question or "Which of these describes the text best?"
    return f"{task}\n{described}\n\nText: {value}\n\nAnswer with one of these words only: {', '.join(states)}."


def chosen_state(answer: str, states: Mapping[str, str], otherwise: str) -> str:
    """The state that an answer names: alone, or as the only one of them; thinking before it does not count.

    Raises ``Unclear`` where it names none or several, and there is no ``otherwise``.
    """
    said = separated(answer)[0].strip().strip("`'\".*。 ").casefold()
    by_name = {state.casefold(): state for state in states}
    if said in by_name:
        return by_name[said]
    named = [state for name, state in by_name.items() if _holds(said, name)]
    if len(named) == 1:
        return named[0]
    if otherwise:
        return otherwise
    raise Unclear(
        f"the model chose no state: it answered {answer.strip()[:80]!r}; "
        f"states: {', '.join(states)}. `otherwise` gives one for such answers"
    )


def _holds(text: str, name: str) -> bool:
    """Whether a name stands in a text as a word of its own; in scripts without blanks, at all."""
    edge = r"(?<!\w)" if name.isascii() else ""
    return re.search(f"{edge}{re.escape(name)}{edge.replace('<', '')}", text) is not None
