"""The commands of the console: each is a word, and what it takes."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, get_args

from workbench.engine.breakpoint_text import read_breakpoint, read_watch
from workbench.engine.breakpoints import WatchKind
from workbench.engine.state import Command
from workbench.tui.actions import Action
from workbench.tui.bridge import EngineThread
from workbench.tui.model import Model

_SET = re.compile(
    r"(?:(?P<alias>\w+)\.)?(?P<name>\w+)\s*(?:\[\s*(?P<item>\d+)\s*\])?\s*=(?!=)\s*(?P<value>.+)", re.DOTALL
)
_WORD = re.compile(r"[\w.]*$")
Handler = Callable[[str], Awaitable[str]]


class WrongCommand(Exception):
    """A command is not written as it should be; ``str()`` says how."""


class ConsoleCommands:
    """Runs them on the engine. ``run``, ``pin`` and ``act`` are those of the screen.

    Besides those that take something, every command of ``actions`` is one by the name it has in the palette.
    """

    def __init__(
        self,
        engine: EngineThread,
        model: Model,
        *,
        run: Callable[[Command], None],
        pin: Callable[[int | None], None],
        actions: Iterable[Action],
        act: Callable[[str], Awaitable[object]],
    ) -> None:
        self._engine = engine
        self._model = model
        self._run_on = run
        self._pin = pin
        self._actions = {action.words: action.name for action in actions}
        self._act = act
        self._handlers: Mapping[str, Handler] = {
            "run": self._run,
            "break": self._break,
            "watch": self._watch,
            "goto": self._goto,
            "set": self._set,
            "timeline": self._timeline,
            "item": self._item,
        }

    def handler(self, line: str) -> Callable[[], Awaitable[str]] | None:
        """What a line asks for; None where it is an expression. A variable of that name comes first."""
        word, _, rest = line.partition(" ")
        if self._model.pool.get(word) is not None:
            return None
        if line.strip() in self._actions:
            return lambda: self._command(line.strip())
        handler = self._handlers.get(word)
        return (lambda: handler(rest.strip())) if handler is not None else None

    # ---- commands: each returns what it did

    async def _command(self, words: str) -> str:
        await self._act(self._actions[words])
        return words

    async def _run(self, how: str) -> str:
        known: tuple[Any, ...] = get_args(Command)
        if how not in known:
            raise WrongCommand(f"run takes one of: {', '.join(known)}")
        self._run_on(next(command for command in known if command == how))
        return f"run {how}"

    async def _break(self, text: str) -> str:
        breakpoints = self._engine.debugger.breakpoints
        found = read_breakpoint(text.removesuffix(":"), self._engine.debugger.program)
        await self._engine.call(breakpoints.add, found)
        return f"stops at {found.step}"

    async def _watch(self, text: str) -> str:
        await self._engine.call(self._engine.debugger.breakpoints.watch, read_watch(text))
        return f"stops by {text}"

    async def _goto(self, text: str) -> str:
        await self._engine.call(self._engine.debugger.go_to, _number(text, "goto takes the number of a visit"))
        return f"before visit {text}"

    async def _timeline(self, text: str) -> str:
        number = _number(text, "timeline takes the number of one")
        await self._engine.call(self._engine.debugger.switch_to, number)
        return f"in timeline {text}"

    async def _item(self, text: str) -> str:
        item = None if text == "off" else _number(text, "item takes a number, or off")
        if item is not None and item >= (self._model.debugger.state.pool.count or 0):
            raise WrongCommand(f"there is no item [{item}]")
        self._pin(item)
        return f"item [{item}]" if item is not None else "no item is pinned"

    async def _set(self, text: str) -> str:
        found = _SET.fullmatch(text)
        if found is None:
            raise WrongCommand("set is like: set NAME = JSON, set NAME[3] = JSON, set SERVER.PARAMETER = JSON")
        try:
            value = json.loads(found["value"])
        except ValueError as error:
            raise WrongCommand(f"the value is not JSON ({error}); a text stands in double quotes") from None
        if self._model.looked_at is not None:
            raise WrongCommand("a past visit is looked at: Esc returns to the present")
        item = int(found["item"]) if found["item"] is not None else None
        debugger = self._engine.debugger
        if found["alias"] is None:
            await self._engine.call(debugger.edit_variable, found["name"], value, item)
        elif item is None:
            await self._engine.call(debugger.edit_parameter, found["alias"], found["name"], value)
        else:
            raise WrongCommand("a parameter is set as a whole")
        return f"{text.partition('=')[0].strip()} is set"

    # ---- completion

    def candidates(self, line: str) -> tuple[int, list[str]]:
        """Where the last word of a line begins, and what may stand there."""
        by_name = [words for words in self._actions if " " in line and words.startswith(line)]
        if by_name:
            return 0, sorted(by_name)
        word = _WORD.search(line)
        begin = word.start() if word is not None else len(line)
        typed = line[begin:]
        return begin, sorted({one for one in self._words(line, begin) if one.startswith(typed)})

    def _words(self, line: str, begin: int) -> list[str]:
        debugger, command = self._model.debugger, line.partition(" ")[0]
        names = [name for variable in self._model.pool for name in (variable.name, f"memory_{variable.name}")]
        parameters = [f"{alias}.{name}" for alias, known in self._model.pool.parameters.items() for name in known]
        if not begin:
            return [*self._handlers, *self._actions, *names, "parameters", "round", "visit"]
        if command == "run":
            return list(get_args(Command))
        if command == "break" and ":" not in line[:begin]:
            steps = debugger.program.steps
            return [*steps, *(step.name for step in steps.values()), "after", "round", "item", "hits"]
        if command == "watch":
            return [*names, *(kind for kind in get_args(WatchKind) if kind != "true")]
        if command == "timeline":
            return [str(number) for number in debugger.timelines]
        return [*names, *parameters] if command == "set" else [*names, "parameters", "round", "visit", "item"]


def _number(text: str, form: str) -> int:
    if not text.isdecimal():
        raise WrongCommand(form)
    return int(text)
