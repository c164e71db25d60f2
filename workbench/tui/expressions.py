"""Expressions that are shown below the variables, with their values at the checkpoint that is looked at."""

from __future__ import annotations

import asyncio
from typing import Any

from msgspec import Struct

from workbench.engine.expressions import ExpressionError, check_expression
from workbench.engine.state import CommandRefused
from workbench.tui.bridge import EngineThread
from workbench.tui.model import Model


class Evaluated(Struct, frozen=True):
    """What an expression came to: a value, or why it has none."""

    value: Any = None
    error: str | None = None


class ExpressionRow(Struct, frozen=True):
    """Marks the row of an expression."""

    text: str


class Expressions:
    """Kept for the session. They are evaluated on the engine's thread."""

    def __init__(self, engine: EngineThread, model: Model) -> None:
        self._engine = engine
        self._model = model
        self.shown: dict[str, Evaluated | None] = {}
        """In the order in which they were added; None before the first value."""

    def put(self, text: str, instead_of: str | None = None) -> None:
        """Add an expression, or write one anew. Raises ``ExpressionError`` where it can't be read."""
        if not text:
            raise ExpressionError("an expression is like: ret_psg[item] | length")
        check_expression(text)
        texts = [text if known == instead_of else known for known in self.shown]
        self.shown = {known: self.shown.get(known) for known in (texts if text in texts else [*texts, text])}

    def remove(self, text: str) -> None:
        self.shown = {known: value for known, value in self.shown.items() if known != text}

    async def evaluate_all(self) -> None:
        texts = list(self.shown)
        values = await asyncio.gather(*map(self.evaluate, texts))
        self.shown = {text: dict(zip(texts, values, strict=True)).get(text) for text in self.shown}

    async def evaluate(self, text: str) -> Evaluated:
        """Its value at the checkpoint that is looked at, for the item that is pinned."""
        try:
            return Evaluated(await self._engine.look(self._at_checkpoint, text))
        except (ExpressionError, CommandRefused) as error:
            return Evaluated(error=str(error).removeprefix(f"can't evaluate `{text}`: "))

    def _at_checkpoint(self, text: str) -> Any:
        """On the engine's thread."""
        model = self._model
        return self._engine.debugger.evaluate(text, visit=model.looked_at, item=model.lens, is_after=True)
