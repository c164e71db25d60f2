"""How steps are answered that were recorded: run anew, or from the recording; all of them, or step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from msgspec import Struct
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Static

from workbench.engine.recording import Answers
from workbench.tui.dialogs import Dialog
from workbench.tui.rows import Part, Row, RowsView
from workbench.tui.text import column, content

WORDS: Mapping[Answers, str] = {
    "run": "run anew",
    "recorded if equal": "from the recording, where inputs are equal",
    "recorded": "from the recording",
}
_LOOKS: Mapping[Answers | None, str] = {"run": "value", "recorded if equal": "good", "recorded": "good", None: "dim"}
_ALL: tuple[Answers, ...] = ("run", "recorded if equal", "recorded")
_STEP: tuple[Answers | None, ...] = (None, *_ALL)


class ChosenAnswers(Struct, frozen=True):
    """``by_step`` (step path -> answers) holds the steps that are answered otherwise than ``answers`` says."""

    answers: Answers
    by_step: Mapping[str, Answers]


class AnswersDialog(Dialog[ChosenAnswers | None]):
    """Space, Left and Right choose for the line at the cursor; Enter takes all. ``steps`` are path and name."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "dismiss(None)", show=False)]

    def __init__(
        self,
        title: str,
        steps: Sequence[tuple[str, str]],
        answers: Answers,
        by_step: Mapping[str, Answers],
        *,
        enter: str = "Enter sets it",
        hint: str = "",
    ) -> None:
        super().__init__()
        self._title, self._enter, self._hint = title, enter, hint
        self._rows = _Choices(steps, answers, by_step)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -tall") as dialog:
            dialog.border_title = content(self._title)
            dialog.border_subtitle = content(f"Space changes a line · {self._enter} · Esc back")
            yield self._rows
            if self._hint:
                yield Static(content(self._hint), classes="hint")

    def on_mount(self) -> None:
        self._rows.focus()

    @on(RowsView.Chosen)
    def _take(self) -> None:
        self.dismiss(ChosenAnswers(self._rows.answers, dict(self._rows.by_step)))


class _Choices(RowsView):
    """A line for all steps, and one for each."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space,right", "turn(1)", show=False),
        Binding("left", "turn(-1)", show=False),
    ]

    def __init__(self, steps: Sequence[tuple[str, str]], answers: Answers, by_step: Mapping[str, Answers]) -> None:
        super().__init__()
        self._steps = steps
        self.answers = answers
        self.by_step = dict(by_step)

    def row_count(self) -> int:
        return len(self._steps) + 1

    def row(self, index: int) -> Row:
        if not index:
            return Row((Part(f" {column('every step', 36)} ", "present"), Part(WORDS[self.answers], "value")))
        path, name = self._steps[index - 1]
        chosen = self.by_step.get(path)
        words = WORDS[chosen] if chosen is not None else "as above"
        label = Part(f" {column(f'{path} {name}', 36)} ", "name")
        return Row((label, Part(words, _LOOKS[chosen])))

    def action_turn(self, by: int) -> None:
        if not self.cursor:
            self.answers = _ALL[(_ALL.index(self.answers) + by) % len(_ALL)]
        else:
            path = self._steps[self.cursor - 1][0]
            chosen = _STEP[(_STEP.index(self.by_step.get(path)) + by) % len(_STEP)]
            self.by_step.pop(path, None)
            if chosen is not None:
                self.by_step[path] = chosen
        self.refresh()
