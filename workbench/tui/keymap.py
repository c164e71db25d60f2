"""The keys that the user has chosen in place of those that the commands have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace
from textual.app import App
from textual.keys import Keys, _character_to_key

from workbench.pipeline.config import Setting
from workbench.pipeline.problems import Problem, nearest
from workbench.tui.actions import ALL, SCREENS, Action, key_name

_NAMED = frozenset(key.value for key in Keys)
_IN_LISTS = frozenset(
    {"up", "down", "left", "right", "pageup", "pagedown", "home", "end", "enter", "escape", "space", *"jkgG"}
)
"""What moves in every list, opens and closes: no command can have these."""
_MODIFIERS = {"ctrl": "ctrl", "control": "ctrl", "^": "ctrl", "shift": "shift", "alt": "alt", "meta": "alt"}


class Keymap(Struct, frozen=True):
    """``chosen`` has keys in Textual's names, by the commands' names in the configuration."""

    chosen: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def of(self, actions: Iterable[Action]) -> tuple[Action, ...]:
        """The actions of one screen with the keys that count: one that is chosen for an action leaves all others."""
        if not self.chosen:
            return tuple(actions)
        actions = tuple(actions)
        taken = {key for action in actions for key in self.chosen.get(action.setting, ())}
        return tuple(
            replace(action, keys=self.chosen.get(action.setting) or ())
            if action.setting in self.chosen
            else replace(action, keys=tuple(key for key in action.keys if key not in taken))
            for action in actions
        )

    def shown(self, actions: Iterable[Action]) -> dict[str, str]:
        """The first key of each action as it is written for people; of one without a key, its name in the palette."""
        return {
            action.setting: key_name(action.keys[0]) if action.keys else f"{action.words}:"
            for action in self.of(actions)
        }


_AS_SHIPPED = Keymap()


def keymap_of(app: App[Any]) -> Keymap:
    keymap = getattr(app, "chosen_keys", _AS_SHIPPED)
    assert isinstance(keymap, Keymap)
    return keymap


def read_keymap(settings: Mapping[str, Setting]) -> tuple[Keymap, list[Problem]]:
    """The keys of a configuration, and what is wrong with it; a command that is set wrongly keeps its keys."""
    chosen: dict[str, tuple[str, ...]] = {}
    problems: list[Problem] = []
    for name, setting in settings.items():
        try:
            chosen[name] = _keys(name, setting.value)
            _must_be_free(name, chosen)
        except ValueError as error:
            chosen.pop(name, None)
            problems.append(_warning(setting, f"`keys.{name}` {error}"))
    keymap = Keymap(chosen)
    problems += _left_without(keymap, settings)
    return keymap, problems


def _keys(name: str, written: tuple[str, ...]) -> tuple[str, ...]:
    if name not in ALL:
        raise ValueError("is no command" + nearest(name, ALL, noun="commands"))
    keys = tuple(textual_key(key) for key in written)
    for key in keys:
        if key in _IN_LISTS:
            raise ValueError(f"can't have {key_name(key)}, which moves, opens or closes in every list")
    return keys


def _must_be_free(name: str, chosen: Mapping[str, tuple[str, ...]]) -> None:
    for other in _beside(name):
        both = set(chosen.get(other, ())) & set(chosen[name]) if other != name else ()
        for key in both:
            raise ValueError(f"can't have {key_name(key)}: it is given to `{other}` as well")


def _beside(name: str) -> set[str]:
    """The commands of the screens that have this one."""
    screens = [{action.setting for action in actions} for actions in SCREENS]
    return set().union(*(names for names in screens if name in names))


def _left_without(keymap: Keymap, settings: Mapping[str, Setting]) -> Iterator[Problem]:
    """A warning for each command that lost its only key to another one."""
    told = set()
    for actions in reversed(SCREENS):
        for before, now in zip(actions, keymap.of(actions), strict=True):
            if now.keys or before.setting in keymap.chosen or before.setting in told:
                continue
            told.add(before.setting)
            taker = next(name for name, keys in keymap.chosen.items() if before.keys[0] in keys)
            message = f"`keys.{taker}` takes {key_name(before.keys[0])} from `{before.setting}`, which has no key then"
            yield _warning(settings[taker], message)


def _warning(setting: Setting, message: str) -> Problem:
    return Problem(setting.file, setting.position, message, is_warning=True)


def textual_key(written: str) -> str:
    """A key as people write it (``F10``, ``n``, ``Ctrl+O``, ``?``) in Textual's name. Raises ``ValueError``."""
    *before, last = written.rsplit("+", 1) if written not in ("+", "") and not written.endswith("++") else [written]
    if written.endswith("++"):
        before, last = [written[:-2]], "+"
    try:
        modifiers = [_MODIFIERS[part.strip().lower()] for part in "+".join(before).split("+") if part]
    except KeyError as error:
        raise ValueError(f"has a key that is none: `{written}`; there is no {error}") from None
    if len(last) == 1:
        key = _character_to_key(last.lower() if "ctrl" in modifiers else last)
        if modifiers == ["shift"] and last.isalpha():
            modifiers, key = [], last.upper()
    else:
        key = last.strip().lower()
        key = {"esc": "escape", "pgup": "pageup", "pgdn": "pagedown", "del": "delete", "return": "enter"}.get(key, key)
        if key not in _NAMED and not _is_character_name(key):
            raise ValueError(f"has a key that is none: `{written}`; keys are as in F10, n, N, Ctrl+O, Shift+F11, ?")
    return "+".join([*sorted(modifiers), key])


def _is_character_name(key: str) -> bool:
    """Textual's own names of keys (``question_mark``) are understood as well."""
    return any(_character_to_key(chr(code)) == key for code in range(0x21, 0x7F))
