"""An entry under ``servers:`` becomes a source: a folder, a file, an address, or a map as MCP clients use it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from workbench.pipeline.environment import Environment
from workbench.pipeline.problems import close_names, did_you_mean, nearest
from workbench.pipeline.project import RemoteAddress, ServerNotFound, ServerSource, Transport, find_server
from workbench.pipeline.secrets import bare, is_secret_name, long_enough, secrets_in

_TRANSPORTS: dict[str, Transport] = {
    "auto": "auto",
    "http": "http",
    "streamable-http": "http",
    "streamable_http": "http",
    "streamableHttp": "http",
    "sse": "sse",
}
_KEYS = ("command", "args", "env", "cwd", "url", "headers", "type", "transport", "disabled", "enabled")
_HARMLESS_HEADERS = {"accept", "accept-language", "content-type", "origin", "referer", "user-agent"}
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_EXPECTED = "a folder, a .py file, an http(s):// address, or a map with `command` or `url`"


def source_of_entry(alias: str, entry: Any, project: Path, environment: Environment) -> ServerSource:
    """The server behind one entry. Raises ``ServerNotFound``."""
    reading = _Entry(alias, project, environment)
    if isinstance(entry, Mapping):
        return reading.map(entry)
    if entry is None:
        raise ServerNotFound(f"server {alias!r} has no source: give {_EXPECTED}, or `--mcp-config FILE` that has it")
    if not isinstance(entry, str) or not entry.strip():
        raise ServerNotFound(f"server {alias!r} must be {_EXPECTED}; found {entry!r}")
    if "://" in entry:
        return reading.address({"url": entry}, url_key="")
    return find_server(alias, entry, project)


class _Entry:
    """One reading of one entry; gathers its secrets."""

    def __init__(self, alias: str, project: Path, environment: Environment) -> None:
        self.alias = alias
        self.project = project
        self.environment = environment
        self.secrets: set[str] = set()

    def map(self, entry: Mapping[str, Any]) -> ServerSource:
        for key in entry:
            close = close_names(key, _KEYS) if key not in _KEYS else []
            if close:  # others are left alone: each client has some of its own
                raise self._wrong(f"unknown key `{key}`" + did_you_mean(close), key)
        if entry.get("disabled") is True or entry.get("enabled") is False:
            raise self._wrong("it is disabled there", "disabled" if "disabled" in entry else "enabled")
        if "url" in entry and "command" in entry:
            raise self._wrong("it has both `command` and `url`; it is either started or reached", "url")
        if "url" in entry:
            return self.address(entry, url_key="url")
        if "command" not in entry:
            raise self._wrong("a map needs `command` (with `args`, `env`, `cwd`) or `url` (with `headers`)")
        return self._command(entry)

    def address(self, entry: Mapping[str, Any], *, url_key: str) -> ServerSource:
        written = self._text(entry["url"], url_key, "`url`")
        url = self._filled(written, url_key)
        self._check_url(url, url_key)
        self.secrets.update(value for name, value in parse_qsl(urlsplit(url).query) if is_secret_name(name))
        self.secrets.update(secrets_in("", url))
        headers = self._filled_map(entry, "headers")
        for name, value in headers.items():
            self._check_header(name, value)
            if name.lower() not in _HARMLESS_HEADERS:
                self.secrets.add(bare(value))
        address = RemoteAddress(url, headers, self._transport(entry))
        return ServerSource(self.alias, written, "address", self.project, address=address, secrets=self._kept())

    def _command(self, entry: Mapping[str, Any]) -> ServerSource:
        arguments = entry.get("args") or []
        if not isinstance(arguments, list):
            raise self._wrong("`args` must be a list", "args")
        command = self._text(entry["command"], "command", "`command`")
        if " " in command and "args" not in entry and not Path(command).expanduser().exists():
            first, *others = command.split()
            raise self._wrong(f"write {{command: {first}, args: [{', '.join(others)}]}}", "command")
        written = [command, *(self._text(part, f"args.{n}", "an argument") for n, part in enumerate(arguments))]
        keys = ["command", *(f"args.{n}" for n in range(len(arguments)))]
        words = [self._home(self._filled(word, key)) for word, key in zip(written, keys, strict=True)]
        self.secrets.update(_after_flags(words))
        env = self._filled_map(entry, "env")
        self.secrets.update(secrets_in("", env))
        cwd = entry.get("cwd")
        folder = self._home(self._filled(self._text(cwd, "cwd", "`cwd`"), "cwd")) if cwd is not None else ""
        return ServerSource(
            alias=self.alias,
            entry=shlex.join(written),
            origin="command",
            cwd=(self.project / folder).resolve() if folder else self.project,
            command=tuple(words),
            env=env,
            secrets=self._kept(),
        )

    # ---- parts

    def _text(self, value: Any, key: str, what: str) -> str:
        if isinstance(value, bool) or not isinstance(value, str | int | float) or value == "":
            raise self._wrong(f"{what} must be a text, not {value!r}", key)
        return str(value)

    def _filled(self, text: str, key: str) -> str:
        """The text with every ``${NAME}`` replaced."""
        filled, missing = self.environment.expanded(text)
        if missing:
            names = " and ".join(f"`{name}`" for name in dict.fromkeys(missing))
            raise self._wrong(
                f"it needs the environment variable {names}; set it, or put it into `.env` of the project folder", key
            )
        named = self.environment.named_in(text)
        self.secrets.update(value for name, value in named.items() if is_secret_name(name))
        return str(filled)

    def _filled_map(self, entry: Mapping[str, Any], key: str) -> dict[str, str]:
        values = entry.get(key) or {}
        if not isinstance(values, Mapping):
            raise self._wrong(f"`{key}` must be a map of names to texts", key)
        filled = {}
        for name, value in values.items():
            place = f"{key}.{name}"
            text = "" if value in ("", None) else str(value).lower() if isinstance(value, bool) else value
            filled[str(name)] = self._filled(self._text(text, place, f"`{name}`"), place) if text != "" else ""
        return filled

    @staticmethod
    def _home(text: str) -> str:
        return str(Path(text).expanduser()) if text == "~" or text.startswith("~/") else text

    def _transport(self, entry: Mapping[str, Any]) -> Transport:
        for key in ("transport", "type"):
            name = entry.get(key)
            if name is None:
                continue
            if name not in _TRANSPORTS:
                known = nearest(str(name), ("http", "sse"), noun="an address has")
                raise self._wrong(f"unknown {key} {name!r}{known}", key)
            return _TRANSPORTS[name]
        return "auto"

    def _check_url(self, url: str, key: str) -> None:
        try:
            parts = urlsplit(url)
            is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            is_address = False
        if not is_address or not url.isascii() or any(c.isspace() for c in url):
            raise self._wrong("its address must be as in https://host/mcp or http://localhost:8000/mcp", key)

    def _check_header(self, name: str, value: str) -> None:
        if not _HEADER_NAME.fullmatch(name):
            raise self._wrong(f"{name!r} can't be the name of a header", f"headers.{name}")
        if not value.isascii() or not value.isprintable() or value != value.strip():
            raise self._wrong(
                f"the header `{name}` must be ASCII without line ends or blanks around it", f"headers.{name}"
            )

    def _kept(self) -> frozenset[str]:
        return frozenset(secret for secret in self.secrets if long_enough(secret))

    def _wrong(self, message: str, key: str = "") -> ServerNotFound:
        return ServerNotFound(f"server {self.alias!r}: {message}", key)


def _after_flags(words: list[str]) -> Iterator[str]:
    """The values of options whose names say that they are secret: ``--api-key x``, ``--token=x``."""
    for word, following in zip(words, [*words[1:], ""], strict=True):
        flag, equals, value = word.partition("=")
        if flag.startswith("-") and is_secret_name(flag.lstrip("-")):
            yield value if equals else following
