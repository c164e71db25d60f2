"""The command palette (Ctrl+P): the commands of the screen it was called from."""

from __future__ import annotations

from functools import partial
from typing import Protocol, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider

from workbench.tui.actions import Action, key_name


class HasActions(Protocol):
    ACTIONS: tuple[Action, ...]

    async def run_action(self, action: str) -> bool: ...


class ActionCommands(Provider):
    """Offers the actions of a screen that has some."""

    async def discover(self) -> Hits:
        for action in self._actions():
            yield DiscoveryHit(
                _title(action), partial(self._screen_of_actions.run_action, action.name), help=action.help
            )

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for action in self._actions():
            score = matcher.match(action.words)
            if score > 0:
                run = partial(self._screen_of_actions.run_action, action.name)
                yield Hit(score, matcher.highlight(_title(action)), run, help=action.help)

    @property
    def _screen_of_actions(self) -> HasActions:
        return cast(HasActions, self.screen)

    def _actions(self) -> list[Action]:
        actions: tuple[Action, ...] = getattr(self.screen, "ACTIONS", ())
        return [action for action in actions if action.name != "app.command_palette"]


def _title(action: Action) -> str:
    return f"{action.words.capitalize()}  ({', '.join(key_name(key) for key in action.keys)})"
