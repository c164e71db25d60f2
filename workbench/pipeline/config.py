"""What a project and a user settle once: ``.ragwb.yaml`` in the project folder, ``ragwb/config.yaml`` of the user."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

import yaml
from msgspec import Struct, field

from workbench.pipeline import yaml_nodes as nodes
from workbench.pipeline.files import composed, read_text, repeated_keys
from workbench.pipeline.problems import PipelineError, Position, Problem, close_names, did_you_mean, nearest
from workbench.pipeline.project import ServerSource

PROJECT_FILE = ".ragwb.yaml"
USER_FILE = "config.yaml"

Place = Literal["project", "user"]


class _Wrong(Exception):
    """A value is not what its key takes; ``str()`` is the end of a sentence that names the key."""


class Key(Struct, frozen=True):
    """One key of the two files. ``default`` says in words what counts without it; ``places`` are the files it may
    stand in. ``read`` gives its value, or raises ``_Wrong``."""

    name: str
    meaning: str
    default: str
    read: Callable[[nodes.Node, Path], Any]
    places: tuple[Place, ...] = ("project", "user")


class Setting(Struct, frozen=True):
    """A value that is set, and where."""

    value: Any
    file: Path
    position: Position


class Configuration(Struct, frozen=True):
    """All that is set, by full name (``servers.generation.python``); the project's file counts more than the user's."""

    settings: Mapping[str, Setting] = field(default_factory=dict)

    def python(self, alias: str) -> str | None:
        """The interpreter for a server of the project's own, where one is named."""
        named: str | None = self._value(f"servers.{alias}.python") or self._value("python")
        return named

    def passed_env(self, alias: str) -> tuple[str, ...] | None:
        """Patterns of the environment variables that a server gets beyond the basic ones; None is all."""
        names = self._value("env")
        return None if names is None else (*names, *(self._value(f"servers.{alias}.env") or ()))

    def useless_python(self, source: ServerSource) -> list[Problem]:
        """A warning where an interpreter is named for a server that it can't count for."""
        setting = self.settings.get(f"servers.{source.alias}.python")
        if setting is None or source.origin == "project":
            return []
        what = {"ragwb": "one that ragwb ships", "command": "a command", "address": "an address"}[source.origin]
        message = f"`servers.{source.alias}.python` counts for Python servers of the project only; this is {what}"
        return [Problem(setting.file, setting.position, message, is_warning=True)]

    @property
    def start_timeout(self) -> float | None:
        seconds: float | None = self._value("start_timeout")
        return seconds

    @property
    def call_timeout(self) -> float | None:
        seconds: float | None = self._value("call_timeout")
        return seconds

    @property
    def elicitation(self) -> Literal["ask", "refuse", "defaults"]:
        return self._value("elicitation") or "ask"

    @property
    def sampling(self) -> Literal["ask", "refuse", "pipeline"]:
        return self._value("sampling") or "ask"

    @property
    def keys(self) -> dict[str, Setting]:
        """The keys that are chosen for commands of the screen, by the command's name."""
        return {
            name.removeprefix("keys."): setting for name, setting in self.settings.items() if name.startswith("keys.")
        }

    def _value(self, name: str) -> Any:
        setting = self.settings.get(name)
        return setting.value if setting is not None else None


def user_file() -> Path:
    """``config.yaml`` in the folder that the system has for a user's settings; it need not exist."""
    from platformdirs import user_config_path

    return user_config_path("ragwb") / USER_FILE


def load_config(project: Path, aliases: Iterable[str] = ()) -> tuple[Configuration, list[Problem]]:
    """What the user's and the project's file say, and every mistake in them.

    ``aliases`` are the servers of the pipeline: a section for another one is in order, since the file is the whole
    project's, unless it looks like a slip.
    """
    settings: dict[str, Setting] = {}
    problems: list[Problem] = []
    files: tuple[tuple[Place, Path], ...] = (("user", user_file()), ("project", project / PROJECT_FILE))
    for place, file in files:
        if os.path.lexists(file):
            reading = _Reading(place, file, project, frozenset(aliases))
            reading.read()
            settings |= reading.settings
            problems += reading.problems
    return Configuration(settings), problems


# ---- what a key may hold


def _python(node: nodes.Node, project: Path) -> str:
    """An interpreter: a path from the project folder, a virtual environment's folder, or a command on the PATH."""
    if nodes.kind(node) != "a text" or not node.value.strip():
        raise _Wrong(f"must be the path of a Python interpreter or of a virtual environment, not {nodes.kind(node)}")
    text = str(node.value)
    if "/" not in text and (found := shutil.which(text)):
        return found
    try:
        place = project / Path(text).expanduser()
    except RuntimeError:
        raise _Wrong(f"names the home of a user who is not there: {text:.80}") from None
    candidates = (place, place / "bin" / "python", place / "Scripts" / "python.exe")
    interpreter = next((candidate for candidate in candidates if _is_file(candidate)), None)
    if interpreter is None:
        on_path = "" if "/" in text else f", and no command `{text}` on the PATH"
        raise _Wrong(
            f"names no Python interpreter: there is no program {place!s:.200} or {candidates[1]!s:.200}{on_path}"
        )
    return str(interpreter.absolute())  # not resolved: a venv's python is a link, and means the venv


def _is_file(file: Path) -> bool:
    try:
        return file.is_file()
    except OSError:  # a name that is too long for any file
        return False


def _names(node: nodes.Node, _: Path) -> tuple[str, ...]:
    if not isinstance(node, yaml.SequenceNode):
        raise _Wrong(f"must be a list of names, as in [OPENAI_API_KEY, HF_*], not {nodes.kind(node)}")
    for entry in node.value:
        if nodes.kind(entry) != "a text" or not entry.value or "=" in entry.value:
            found = f"`{entry.value}`" if isinstance(entry, yaml.ScalarNode) else nodes.kind(entry)
            raise _Wrong(f"must hold names of environment variables; {found} is none")
    return tuple(str(entry.value) for entry in node.value)


def _keys(node: nodes.Node, _: Path) -> tuple[str, ...]:
    listed = node.value if isinstance(node, yaml.SequenceNode) else [node]
    for entry in listed:
        if not isinstance(entry, yaml.ScalarNode) or nodes.is_null(entry) or not entry.value.strip():
            raise _Wrong(f"must be a key or a list of keys, as in [F10, n], not {nodes.kind(entry)}")
    return tuple(str(entry.value).strip() for entry in listed)


def _seconds(node: nodes.Node, _: Path) -> float:
    value = nodes.plain(node) if isinstance(node, yaml.ScalarNode) else None
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value < float("inf"):
        raise _Wrong("must be a number of seconds above 0; to wait for ever, leave it out")
    return float(value)


def _choice(*choices: str) -> Callable[[nodes.Node, Path], str]:
    def read(node: nodes.Node, _: Path) -> str:
        if isinstance(node, yaml.ScalarNode) and node.value in choices:
            return str(node.value)
        shown = f"`{node.value}`" if isinstance(node, yaml.ScalarNode) else nodes.kind(node)
        *others, last = (f"`{choice}`" for choice in choices)
        raise _Wrong(f"must be {', '.join(others)} or {last}, not {shown}")

    return read


KEYS = (
    Key(
        "python",
        "the Python that runs the project's own servers: an interpreter or a virtual environment, from the project "
        "folder, or a command on the PATH",
        "a .venv beside the server or in the project folder, else ragwb's own",
        _python,
    ),
    Key(
        "env",
        "names of the environment variables that servers get, `*` stands for any ending; the basic ones (HOME, LANG, "
        "LC_*, LOGNAME, PATH, SHELL, TERM, TMPDIR, USER, proxies) they get in any case",
        "all",
        _names,
    ),
    Key(
        "start_timeout",
        "seconds after which a server that is not ready is given up",
        "none; 30 for a server that is an address",
        _seconds,
    ),
    Key("call_timeout", "seconds after which a call without an answer is given up", "none", _seconds),
    Key(
        "elicitation",
        "what a server hears that asks the user something: `ask` (the user at the screen answers; refused where "
        "there is none), `refuse`, or `defaults` (those of its form, refused where a required field has none)",
        "ask",
        _choice("ask", "refuse", "defaults"),
    ),
    Key(
        "sampling",
        "what a server hears that asks for a model's answer: `ask` (the user at the screen decides; refused where "
        "there is none), `refuse`, or `pipeline` (the tool `generate` of the pipeline's server `generation` answers)",
        "ask",
        _choice("ask", "refuse", "pipeline"),
    ),
    Key("servers.<alias>.python", "`python` for one server", "`python`", _python, ("project",)),
    Key("servers.<alias>.env", "names for one server, beyond those of `env`", "none", _names, ("project",)),
    Key(
        "keys.<command>",
        "the keys of a command of the screen, as in `step_over: [F10, n]`; commands have the names of the palette (^P) "
        "with `_` for blanks; [] leaves it without a key",
        "those that `?` lists",
        _keys,
    ),
)
"""Every key there is."""

_BY_NAME = {key.name: key for key in KEYS}


class _Reading(Struct):
    """One reading of one file; collects problems instead of stopping at the first."""

    place: Place
    file: Path
    project: Path
    aliases: frozenset[str]
    settings: dict[str, Setting] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def read(self) -> None:
        if self.file.is_dir():
            self.problems.append(Problem(self.file, None, "this is a folder: the configuration is a file of that name"))
            return
        try:
            root = composed(self.file, read_text(self.file))
        except PipelineError as error:
            self.problems += error.problems
            return
        if root is not None and not nodes.is_null(root):
            self.problems += repeated_keys(self.file, root)
            self._map(root, "", "")

    def _map(self, node: nodes.Node, name: str, pattern: str) -> None:
        """The keys of a map that stands under ``name``, which is ``pattern`` in the table; both end with a dot."""
        if not isinstance(node, yaml.MappingNode):
            what = f"`{name[:-1]}:`" if name else f"`{self.file.name}`"
            self._report(node, f"{what} must be a map, not {nodes.kind(node)}")
            return
        known = {key.removeprefix(pattern).partition(".")[0] for key in _BY_NAME if key.startswith(pattern)}
        if pattern == "servers.":
            self._slips({written for written, _, _ in nodes.entries(node)}, node)
        for written, key_node, value in nodes.entries(node):
            segment = next((name for name in known if name.startswith("<")), written)
            if segment not in known:
                self._report(key_node, f"unknown key `{name}{written}`" + nearest(written, known, noun="known keys"))
            else:
                self._entry(key_node, value, name + written, pattern + segment)

    def _entry(self, key_node: nodes.Node, value: nodes.Node, name: str, pattern: str) -> None:
        key = _BY_NAME.get(pattern)
        if not any(self.place in k.places for k in KEYS if k.name == pattern or k.name.startswith(f"{pattern}.")):
            self._report(key_node, f"`{name}` belongs to one project: write it into its `{PROJECT_FILE}`")
        elif nodes.is_null(value):
            return
        elif key is None:
            self._map(value, f"{name}.", f"{pattern}.")
        else:
            try:
                self.settings[name] = Setting(key.read(value, self.project), self.file, nodes.position(value))
            except (_Wrong, nodes.YamlError) as error:
                self._report(value, f"`{name}` {error}")

    def _slips(self, written: set[str], node: yaml.MappingNode) -> None:
        for alias, key, _ in nodes.entries(node):
            close = close_names(alias, self.aliases - written) if alias not in self.aliases else []
            if close:
                message = f"the pipeline has no server `{alias}`" + did_you_mean(close)
                self.problems.append(Problem(self.file, nodes.position(key), message, is_warning=True))

    def _report(self, node: nodes.Node, message: str) -> None:
        self.problems.append(Problem(self.file, nodes.position(node), message))
