"""What the user looks at closer: expressions, a part of a pane, who wrote a variable. Nothing is changed by it."""

from __future__ import annotations

from workbench.engine.state import CommandRefused
from workbench.tui.action_screen import ActionScreen
from workbench.tui.bridge import EngineThread
from workbench.tui.dialogs import LineDialog
from workbench.tui.expressions import Expressions
from workbench.tui.filter_bar import FilterBar
from workbench.tui.history_dialog import HistoryDialog
from workbench.tui.model import Model
from workbench.tui.rows import RowsView
from workbench.tui.traffic_pane import TrafficPane
from workbench.tui.variables_pane import VariablesPane


class Looking:
    """Opens the dialogs of a screen that show, and keeps the expressions up to date."""

    def __init__(
        self,
        screen: ActionScreen[None],
        engine: EngineThread,
        model: Model,
        expressions: Expressions,
        variables: VariablesPane,
    ) -> None:
        self._screen = screen
        self._engine = engine
        self._model = model
        self._expressions = expressions
        self._variables = variables

    # ---- a part of a pane

    def filter(self, rows: RowsView) -> None:
        """Narrow the pane in front; where it has no filter, the variables."""
        bar = self._screen.query_one(FilterBar)
        bar.open(rows if isinstance(rows, TrafficPane) else self._variables)

    # ---- expressions

    async def evaluate(self) -> None:
        """The values of all expressions, as they are at the checkpoint that is shown."""
        if self._expressions.shown:
            await self._expressions.evaluate_all()
            self._variables.show_pool()

    def put_expression(self, known: str | None) -> None:
        """Ask for an expression, or for one in the place of another."""

        async def apply(text: str) -> None:
            self._expressions.put(text, known)
            await self.evaluate()

        title = "Show the value of" if known is None else "Show, instead of this, the value of"
        hint = "variables, memory_<variable>, parameters, round, visit, and item where one is pinned"
        example = "ret_psg[0] | length"
        self._screen.app.push_screen(LineDialog(title, known or "", apply, example=example, hint=hint))

    def remove_expression(self) -> None:
        text = self._variables.expression
        if text is None:
            self._screen.say("select an expression, below the variables")
            return
        self._expressions.remove(text)
        self._variables.show_pool()

    # ---- variables

    async def show_history(self) -> None:
        name = self._variables.variable
        if name is None:
            self._screen.say("select a variable in its pane")
            return
        try:
            versions = await self._engine.look(self._engine.debugger.history, name)
        except CommandRefused as error:
            self._screen.say(str(error))
        else:
            self._screen.app.push_screen(HistoryDialog(name, versions))
