"""Conversations to answers through some backend: order kept, so many at once, and no answer lost when another fails."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from answer import Answer, GenerationError, TooLong
from backend import Backend, Messages, Wish
from cache import Cache, content_key
from context_window import Window
from settings import positive
from shortening import AT_MOST, shortened
from telling import Telling

from workbench.mcp.kit import output_path
from workbench.mcp.thinking import separated

Outcome = Answer | GenerationError
NO_WISH = Wish()
_SETTINGS = {"thinking": ("keep", "separate"), "too_long": ("fail", "cut")}


@dataclass(frozen=True)
class Handling:
    """What is done with prompts and answers, whatever the backend: ``backend_configs.common``."""

    thinking: str = "keep"
    too_long: str = "fail"
    cache: str = ""
    deadline: float | None = None
    """Seconds for all answers of a call."""

    @classmethod
    def of(cls, configs: Mapping[str, Any]) -> Handling:
        """Raises ``GenerationError`` for what is none of the choices."""
        given = {name: value for name, value in configs.items() if value is not None}
        for name in given:
            if name not in cls.__dataclass_fields__:
                known = ", ".join(cls.__dataclass_fields__)
                raise GenerationError(f"generation.backend_configs.common has no {name!r}; it has {known}")
        for name, choices in _SETTINGS.items():
            if name in given and given[name] not in choices:
                raise GenerationError(
                    f"generation.backend_configs.common.{name} is {' or '.join(choices)}, not {given[name]!r}"
                )
        if not isinstance(given.get("cache", ""), str):
            raise GenerationError(f"generation.backend_configs.common.cache is a file, not {given['cache']!r}")
        deadline = given.get("deadline")
        if deadline is not None and (not isinstance(deadline, int | float) or positive(deadline) is None):
            raise GenerationError(f"generation.backend_configs.common.deadline is seconds above 0, not {deadline!r}")
        return cls(**given)


@dataclass
class Model:
    """A loaded backend, and how its answers are handled."""

    backend: Backend
    options: Mapping[str, Any]
    handling: Handling = field(default_factory=Handling)
    window: Window = field(default_factory=Window)
    warnings: list[str] = field(default_factory=list)
    """What became of the last call's answers that the user should know."""
    _cache: Cache | None = None
    _kept: dict[str, Answer] = field(default_factory=dict)
    """The answers of a call in which others failed: when it is tried again, only these are asked for."""

    def __post_init__(self) -> None:
        if self.handling.cache:
            try:
                self._cache = Cache(output_path(self.handling.cache))
            except (sqlite3.Error, OSError) as error:
                raise GenerationError(
                    f"generation.backend_configs.common.cache: {self.handling.cache} can't be used: {error}"
                ) from error

    async def answers(
        self,
        conversations: Sequence[Messages],
        labels: Sequence[str],
        wish: Wish = NO_WISH,
    ) -> list[Outcome]:
        """One answer per conversation, in order, or why there is none.

        Raises ``GenerationError`` where no item can be answered.
        """
        self.warnings = []
        at_once = min(self.backend.concurrency, len(conversations))
        call = _Call(self, wish, labels, Telling(len(conversations), streams=at_once == 1))
        outcomes: list[Outcome | None] = [None] * len(conversations)
        left = iter(range(len(conversations)))

        async def work() -> None:
            for place in left:
                outcomes[place] = await call.outcome(conversations[place], labels[place])

        workers = [asyncio.create_task(work()) for _ in range(at_once)]
        try:
            async with asyncio.timeout(self.handling.deadline):
                await asyncio.gather(*workers)
        except TimeoutError:
            pass
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
            self._kept = call.answered
        late = (
            GenerationError(f"no answer within {self.handling.deadline:g} s (deadline)") if None in outcomes else None
        )
        found = [outcome or late for outcome in outcomes]
        self._settle(found, labels)
        return found  # type: ignore[return-value]

    def known(self, key: str) -> Answer | None:
        """An answer that was given before."""
        answer = self._kept.get(key)
        if answer is None and self._cache is not None:
            answer = self._looked_up(key)
        return replace(answer, is_cached=True) if answer is not None else None

    def _looked_up(self, key: str) -> Answer | None:
        try:
            return self._cache.get(key) if self._cache is not None else None
        except (sqlite3.Error, ValueError, TypeError) as error:
            self.warnings = [
                f"generation.backend_configs.common.cache: {self.handling.cache} can't be read ({error}): "
                "the model is asked"
            ]
            return None

    def keep(self, key: str, answer: Answer) -> None:
        """Keep an answer for the next run. One that can't be written counts all the same."""
        if self._cache is None:
            return
        try:
            self._cache.put(key, answer)
        except sqlite3.Error as error:
            self.warnings = [
                f"generation.backend_configs.common.cache: {self.handling.cache} can't be written ({error}): "
                "answers of this call are not kept"
            ]

    async def close(self) -> None:
        if self._cache is not None:
            self._cache.close()
        await self.window.close()
        await self.backend.close()

    def _settle(self, outcomes: Sequence[Outcome | None], labels: Sequence[str]) -> None:
        """Nothing is kept of a call that went well. Raises the error of one in which every item failed."""
        failed = [(label, o) for label, o in zip(labels, outcomes, strict=True) if isinstance(o, GenerationError)]
        if not failed:
            self._kept = {}
        elif len(failed) == len(outcomes):
            label, error = failed[0]
            more = f" (and {len(failed) - 1} more failed)" if len(failed) > 1 else ""
            raise GenerationError(f"item {label}: {error}{more}") from error


@dataclass
class _Call:
    """One call's way through the model."""

    model: Model
    wish: Wish
    labels: Sequence[str]
    telling: Telling
    answered: dict[str, Answer] = field(default_factory=dict)

    async def outcome(self, messages: Messages, label: str) -> Outcome:
        """Raises ``GenerationError`` where it would be the same for every other item."""
        model = self.model
        wish, options = self.wish, {**model.options, **self.wish.options}
        asked = {"model": model.backend.identity, "options": options, "schema": wish.schema}
        if wish.tools:
            asked["tools"] = [tool.offered() for tool in wish.tools]
        key = content_key(**asked, messages=messages)
        await self.telling.begin(label)
        answer = model.known(key)
        if answer is None:
            begun = time.perf_counter()
            try:
                answer = await self._ask(messages, label)
            except GenerationError as error:
                if error.stops_all:
                    kept = self._kept_answers()
                    raise GenerationError(f"item {label}: {error}{kept}", stops_all=True) from error
                await self.telling.end(label, "failed")
                return error
            answer = replace(answer, seconds=time.perf_counter() - begun)
            model.keep(key, answer)
        self.answered[key] = answer
        if model.handling.thinking == "separate":
            text, thinking = separated(answer.text)
            answer = replace(answer, text=text, thinking=thinking or answer.thinking)
        await self.telling.end(label, answer.text)
        return answer

    def _kept_answers(self) -> str:
        """What becomes of the answers that are there, where the others can't come."""
        if not self.answered:
            return ""
        many = f"{len(self.answered)} answers are" if len(self.answered) > 1 else "1 answer is"
        if self.model.handling.cache:
            return f" ({many} kept in {self.model.handling.cache})"
        return (
            f" ({many} kept for a retry of this step while the server runs; "
            "generation.backend_configs.common.cache keeps them for good)"
        )

    async def _ask(self, messages: Messages, label: str) -> Answer:
        """The answer; a prompt that is too long is shortened where that is wished."""
        on_token = self.telling.token if self.telling.streams else None
        taken: list[str] = []
        while True:
            try:
                await self.model.window.check(messages)
                answer = await self.model.backend.answer(messages, label, self.wish, on_token)
            except TooLong as error:
                if self.model.handling.too_long != "cut" or len(taken) == AT_MOST:
                    raise
                messages, said = shortened(messages, error)
                taken.append(said)
            else:
                return replace(answer, shortened="; then ".join(taken))
