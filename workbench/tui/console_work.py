"""What the console does with a line: a command is run, an expression is evaluated, and the result shown."""

from __future__ import annotations

import asyncio
from typing import Any

from workbench.engine.expressions import ExpressionError
from workbench.engine.inputs import StepError
from workbench.engine.state import CommandRefused
from workbench.tui.action_screen import ActionScreen
from workbench.tui.console import Console
from workbench.tui.console_commands import ConsoleCommands, WrongCommand
from workbench.tui.console_history import keep_history, read_history
from workbench.tui.expressions import Expressions
from workbench.tui.model import Model
from workbench.tui.previews import preview, short_shape
from workbench.tui.rows import Part
from workbench.tui.viewer import ValueViewer


class ConsoleWork:
    """The console of a screen, and its last result."""

    def __init__(
        self, screen: ActionScreen[None], model: Model, expressions: Expressions, commands: ConsoleCommands
    ) -> None:
        self._screen = screen
        self._model = model
        self._expressions = expressions
        self._commands = commands
        self._result: tuple[str, Any] | None = None
        self.console = Console(read_history(), commands.candidates)

    async def enter(self, line: str) -> None:
        """Do what a line says; an empty one shows the last result as a whole."""
        if not line:
            if self._result is not None:
                self._screen.app.push_screen(ValueViewer(*self._result))
            return
        await asyncio.to_thread(keep_history, list(self.console.history))
        self._result = None
        command = self._commands.handler(line)
        try:
            if command is not None:
                self.console.show_result([Part(f" {await command()}", "good")])
            else:
                await self._evaluate(line.removeprefix("=").strip())
        except (CommandRefused, ExpressionError, StepError, WrongCommand) as error:
            self.console.show_result([Part(f" {error}", "bad")])

    async def _evaluate(self, text: str) -> None:
        found = await self._expressions.evaluate(text)
        if found.error is not None:
            raise ExpressionError(found.error)
        value = self._model.without_secrets(found.value)
        self._result = (text, value)
        shown = Part(f" {preview(value, self._screen.size.width)}", "value")
        self.console.show_result([shown], [Part(f"  {short_shape(value)} · Enter shows all of it ", "dim")])
