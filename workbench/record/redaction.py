"""Secrets, masked in everything that is shown or written."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from msgspec.structs import asdict, replace

from workbench.engine.events import Emit, Event
from workbench.engine.ports import Answering, Asked, AskedKind, Call, CallResult, Edit, Reply, Tools, ToolsError
from workbench.pipeline.declaration import ServerDeclaration
from workbench.pipeline.parameters import ParameterSet
from workbench.pipeline.project import ServerSource
from workbench.pipeline.secrets import secrets_in


class Redactor:
    """Masks known secrets in texts. Values that tools are called with are never altered."""

    def __init__(self, secrets: frozenset[str] = frozenset()) -> None:
        self._secrets = frozenset[str]()
        self._masks: dict[str, str] = {}
        self._bytes: dict[bytes, bytes] = {}
        self.learn(secrets)

    def learn(self, secrets: Iterable[str]) -> None:
        """Mask these too from now on."""
        self._secrets = self._secrets.union(secrets)
        texts = self._secrets | {json.dumps(secret)[1:-1] for secret in self._secrets}
        longest_first = sorted(texts, key=len, reverse=True)
        self._masks = {text: masked(text) for text in longest_first}
        self._bytes = {text.encode(): mask.encode() for text, mask in self._masks.items()}

    @property
    def secrets(self) -> frozenset[str]:
        """What it masks; to be shown nowhere."""
        return self._secrets

    @classmethod
    def of(cls, parameters: ParameterSet, others: frozenset[str] = frozenset()) -> Redactor:
        """For the secrets among the parameters, and others that are known."""
        values = ((name, p.value) for section in parameters.values.values() for name, p in section.items())
        return cls(others | {secret for name, value in values for secret in secrets_in(name, value)})

    def follow(self, parameters: ParameterSet, others: frozenset[str] = frozenset()) -> None:
        """Learn the secrets of parameters that were read anew."""
        self.learn(Redactor.of(parameters, others)._secrets)

    def learn_edit(self, edit: Edit) -> None:
        """Learn a secret that was typed by hand."""
        if edit.what == "parameter":
            self.learn(frozenset(secrets_in(edit.name, edit.value)))

    def text(self, text: str) -> str:
        for secret, mask in self._masks.items():
            if secret in text:
                text = text.replace(secret, mask)
        return text

    def line(self, line: bytes) -> bytes:
        for secret, mask in self._bytes.items():
            if secret in line:
                line = line.replace(secret, mask)
        return line

    def value(self, value: Any) -> Any:
        """A JSON value with every text in it masked; the value itself where there is nothing to mask."""
        if not self._masks:
            return value
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.value(entry) for entry in value]
        if isinstance(value, Mapping):
            return {key: self.value(entry) for key, entry in value.items()}
        return value

    def emit(self, emit: Emit) -> Emit:
        """An ``emit`` that masks every text of an event before anyone hears of it."""
        return lambda event: emit(self._event(event) if self._masks else event)

    def _event(self, event: Event) -> Event:
        changed: dict[str, Any] = {}
        for name, value in asdict(event).items():
            if isinstance(value, str) and self.text(value) != value:
                changed[name] = self.text(value)
            elif isinstance(value, bytes) and self.line(value) != value:
                changed[name] = self.line(value)
            elif isinstance(value, tuple):
                changed[name] = tuple(self.value(entry) for entry in value)
            elif isinstance(value, list | dict):
                changed[name] = self.value(value)
        return replace(event, **changed) if changed else event


class RedactedAnswering:
    """Answers in which users give secrets away: these are masked before anyone hears of the answer."""

    def __init__(self, user: Answering, redactor: Redactor) -> None:
        self._user = user
        self._redactor = redactor

    @property
    def kinds(self) -> frozenset[AskedKind]:
        return self._user.kinds

    async def answer(self, asked: Asked) -> Reply:
        reply = await self._user.answer(asked)
        secrets = frozenset(secrets_in("", reply.content))
        if secrets:
            self._redactor.learn(secrets)
        return reply


class RedactedTools:
    """Tools whose errors are masked: their messages are shown, and a server may put its parameters into them.

    ``make`` makes them when they are first needed, which is not before the first picture.
    """

    def __init__(self, make: Callable[[], Tools], redactor: Redactor) -> None:
        self._make = make
        self._made: Tools | None = None
        self._redactor = redactor

    @property
    def _tools(self) -> Tools:
        if self._made is None:
            self._made = self._make()
        return self._made

    def start(self, aliases: Iterable[str]) -> None:
        self._tools.start(aliases)

    async def declaration(self, alias: str) -> ServerDeclaration:
        with self._masked():
            return await self._tools.declaration(alias)

    async def call(self, call: Call) -> CallResult:
        with self._masked():
            return await self._tools.call(call)

    async def restart(self, alias: str) -> None:
        with self._masked():
            await self._tools.restart(alias)

    async def stop(self, alias: str) -> None:
        await self._tools.stop(alias)

    async def take(self, sources: Mapping[str, ServerSource]) -> tuple[str, ...]:
        return await self._tools.take(sources)

    async def close(self) -> None:
        if self._made is not None:
            await self._made.close()

    @contextmanager
    def _masked(self) -> Iterator[None]:
        try:
            yield
        except ToolsError as error:
            error.args = (self._redactor.text(str(error)),)
            raise


def masked(secret: str) -> str:
    """``sk-test-000`` as ``sk-…000``."""
    return f"{secret[:3]}…{secret[-3:]}" if len(secret) >= 12 else "…"
