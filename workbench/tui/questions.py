"""Brings what servers ask before the user: one dialog at a time, in the order they asked."""

from __future__ import annotations

from functools import partial

from workbench.engine.ports import Reply
from workbench.tui.action_screen import ActionScreen
from workbench.tui.bridge import EngineThread
from workbench.tui.model import Model
from workbench.tui.question_dialog import Asking, QuestionDialog
from workbench.tui.user import OpenQuestion


class Questions:
    """Opens the dialogs over a screen, and closes those that nobody waits for any more."""

    def __init__(self, screen: ActionScreen[None], engine: EngineThread, model: Model) -> None:
        self._screen = screen
        self._engine = engine
        self._model = model
        self._shown: list[QuestionDialog] = []
        self._put_off: set[OpenQuestion] = set()
        self._announced: set[OpenQuestion] = set()

    def look(self) -> None:
        """See what is asked now; to be called when that may have changed, and when the screen is in front again."""
        self._model.asked = [question for question in self._engine.user.open if not question.is_over]
        self._put_off.intersection_update(self._model.asked)
        self._announced.intersection_update(self._model.asked)
        self._shown = [dialog for dialog in self._shown if dialog in self._screen.app.screen_stack]
        for dialog in self._shown:
            dialog.close_if_over()
        seen = {dialog.question for dialog in self._shown} | self._put_off
        waiting = next((question for question in self._model.asked if question not in seen), None)
        if waiting is not None and self._may_open():
            self._open(waiting)
        elif waiting is not None and not self._shown and waiting not in self._announced:
            self._announced.add(waiting)
            self._screen.say(f"{waiting.asked.server} waits for an answer")

    def bring(self) -> None:
        """Show a question that the user wanted to look at later."""
        self._put_off.clear()
        self.look()
        if not self._model.asked:
            self._screen.say("no server asks anything")

    def _may_open(self) -> bool:
        """Not over something else that the user is busy with; but over a dialog that waits for a server itself."""
        front = self._screen.app.screen
        return front is self._screen or (isinstance(front, QuestionDialog) and front.is_busy)

    def _open(self, question: OpenQuestion) -> None:
        # Loaded when a server asks for the first time, and not before the first picture.
        from workbench.tui.form_dialog import FormDialog
        from workbench.tui.writing_dialog import JsonDialog, SamplingDialog

        asking = Asking(question, self._who(question), self._model.without_secrets, self._settle)
        by_model = question.asked.by_model
        dialog: QuestionDialog
        if question.form is not None:
            dialog = FormDialog(asking, question.form)
        elif question.asked.kind == "elicitation":
            dialog = JsonDialog(asking)
        else:
            dialog = SamplingDialog(asking, partial(self._engine.call, by_model) if by_model is not None else None)
        self._shown.append(dialog)
        self._screen.app.push_screen(dialog)

    def _who(self, question: OpenQuestion) -> str:
        asked, running = question.asked, self._model.debugger.state.running
        if asked.visit is None:
            return f"{asked.server} asks"
        step = f" · {running.step} {running.name}" if running is not None and running.number == asked.visit else ""
        return f"{asked.server} asks{step} · visit {asked.visit}"

    def _settle(self, question: OpenQuestion, reply: Reply | None) -> None:
        if reply is None:
            self._put_off.add(question)
        else:
            question.is_over = True
            self._engine.submit(question.answer, reply)
