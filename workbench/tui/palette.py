"""The command palette (Ctrl+P): the commands of the screen it was called from."""

from __future__ import annotations

from functools import partial

from textual.command import DiscoveryHit, Hit, Hits, Provider

from workbench.tui.action_screen import ActionScreen
from workbench.tui.actions import Action, key_name


class ActionCommands(Provider):
    """Offers the actions of a screen that has some."""

    async def discover(self) -> Hits:
        for action in self._actions():
            yield DiscoveryHit(_title(action), partial(self.screen.run_action, action.name), help=action.help)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for action in self._actions():
            score = matcher.match(action.words)
            if score > 0:
                run = partial(self.screen.run_action, action.name)
                yield Hit(score, matcher.highlight(_title(action)), run, help=action.help)

    def _actions(self) -> list[Action]:
        actions = self.screen.actions() if isinstance(self.screen, ActionScreen) else ()
        return [action for action in actions if action.name != "app.command_palette"]


def _title(action: Action) -> str:
    return f"{action.words.capitalize()}  ({', '.join(key_name(key) for key in action.keys)})"
