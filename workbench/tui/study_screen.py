"""What the screens of saved runs have in common: the run that is looked at, other runs, roles, ways to share it."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from textual import work

from workbench.cases.export_test import NoTest, test_of_visit
from workbench.cases.opening import OpenedRun, open_runs
from workbench.cases.roles import ROLES
from workbench.cases.saved_run import RunUnreadable
from workbench.pipeline.problems import PipelineError
from workbench.tui.answers_dialog import AnswersDialog
from workbench.tui.desk import Desk, GoLive, run_name
from workbench.tui.dialogs import Choose, LineDialog
from workbench.tui.pane_screen import PaneScreen
from workbench.tui.panes import PaneArea
from workbench.tui.sharing import share
from workbench.tui.studying import Studied
from workbench.tui.values_out import save_text

_ANOTHER = "another file …"


class StudyScreen(PaneScreen):
    """Subclasses show the run of the desk, and follow it when it is another."""

    def __init__(self, desk: Desk, panes: PaneArea) -> None:
        super().__init__(panes)
        self._desk = desk

    @property
    def studied(self) -> Studied:
        return self._desk.studied

    def show_run(self) -> None:
        """Show the run that is looked at now, or more of it."""
        raise NotImplementedError

    def item_count(self) -> int:
        return self.studied.run.count

    def is_growing(self) -> bool:
        """Whether the file is still being indexed, which is said then: there is no whole run to be worked on."""
        if self._desk.growing is not None:
            self.say("the file is still being indexed")
        return self._desk.growing is not None

    # ---- other runs

    def action_next_run(self) -> None:
        if len(self._desk.studies) < 2:
            self.say("one run is opened: C opens another beside it")
            return
        self._desk.next()
        self.show_run()

    @work
    async def action_compare(self) -> None:
        """Ask for the other run, and lay both side by side."""
        from workbench.tui.compare_screen import CompareScreen

        if self.is_growing():
            return
        this = self.studied
        others = {f"{n}  {run_name(s.run)}": s for n, s in enumerate(self._desk.studies, 1) if s is not this}
        chosen = await self.app.push_screen_wait(Choose("Compare with", [*others, _ANOTHER])) if others else _ANOTHER
        if chosen is None:
            return
        other = others.get(chosen) or await self._from_another_file()
        if other is not None:
            self.app.push_screen(CompareScreen(self._desk, this, other))

    async def _from_another_file(self) -> Studied | None:
        found: list[OpenedRun] = []

        async def opened(path: str) -> None:
            if not path.strip():
                raise ValueError("write the path of a file")
            try:
                found.extend(await asyncio.to_thread(_opened, path))
            except (RunUnreadable, PipelineError) as error:
                raise ValueError(str(error)) from None

        beside = f"a memory file or a session; from {os.getcwd()}"
        example = str(self.studied.run.file.parent / "memory_….json")
        await self.app.push_screen_wait(
            LineDialog("Compare with which file?", "", opened, example=example, hint=beside)
        )
        if not found:
            return None
        new = [Studied(run, self.studied.named, self.studied.metric) for run in found]
        self._desk.studies += new
        return new[0]

    # ---- roles

    @work
    async def action_roles(self) -> None:
        """Ask which variable holds what, and work everything out anew."""
        studied = self.studied
        if studied.study is None:
            self.say("the items are still being read")
            return
        roles = studied.study.roles
        names = {f"{role:<11} {getattr(roles, role) or 'none'}": role for role in ROLES}
        metric = f"{'right by':<11} {studied.study.metric}"
        chosen = await self.app.push_screen_wait(Choose("Which variable holds what?", [*names, metric]))
        if chosen == metric:
            await self._choose_metric()
        if chosen is None or chosen == metric:
            return
        role = names[chosen]
        variables = list(studied.study.flow.writers)
        variable = await self.app.push_screen_wait(Choose(f"Which variable holds the {role}?", variables))
        if variable is not None:
            studied.named[role] = variable
            studied.begin(self.app)
            self.show_run()
            self.say(f"the {role} is taken from {variable}")

    async def _choose_metric(self) -> None:
        scores = list(self.studied.rows[0].row.scores) if self.studied.rows else []
        metric = await self.app.push_screen_wait(Choose("Items are right that score 1 by", scores))
        if metric is not None:
            self.studied.metric = metric
            self.studied.begin(self.app)
            self.show_run()

    # ---- sharing

    def items_to_share(self) -> list[int] | None:
        """The marked items; None for all where none is marked."""
        notes = self.studied.notes
        return (notes.marked or None) if notes is not None else None

    @work
    async def action_share(self) -> None:
        if not self.studied.is_whole:
            self.say("the items are still being worked out")
            return
        written = await share(self.app, self.studied, self.items_to_share())
        if written is not None:
            self.say(f"written: {written}")

    @work
    async def go_live(self, visit: int) -> None:
        """Ask how steps are answered from before this visit on, and leave to run on there."""
        opened = self.studied.opened
        if self.is_growing():
            return
        if opened.pipeline is None:
            self.say("its pipeline is not known, and so neither what runs next: open it with --pipeline FILE")
            return
        steps = [(step.path, step.name) for step in opened.pipeline.pipeline.tool_steps()]
        title = f"Go live before visit {visit}: from there on each step is"
        hint = (
            "What comes before is rebuilt from the file, in a new session; the file stays as it is. "
            "What it does not hold is asked for on the way."
        )
        dialog = AnswersDialog(title, steps, "run", {}, enter="Enter goes live", hint=hint)
        chosen = await self.app.push_screen_wait(dialog)
        if chosen is None:
            return
        live = GoLive(opened, visit, chosen.answers, chosen.by_step)
        refusal = await asyncio.to_thread(self._desk.refusal, live)
        if refusal is None:
            self.app.exit(live)
        else:
            self.say(refusal, is_error=True)

    async def make_test(self, number: int) -> None:
        """Write a test of the visit with this number in its session."""
        opened = self.studied.opened
        try:
            text = await asyncio.to_thread(test_of_visit, opened, number)
        except NoTest as error:
            self.say(str(error), is_error=True)
            return
        masked = opened.redactor().text(text)
        name = f"test_visit_{number}.py"
        hint = "secrets in it are masked: put them back before you run it" if masked != text else ""
        file = await save_text(self.app, f"the test of visit {number}", name, masked, hint)
        if file is not None:
            self.say(f"written: {file}; run it with pytest")


class ScreenOverWalk(StudyScreen):
    """One that lies over the walk through a run, and is left for it."""

    def action_restore(self) -> None:
        if self.has_class("-alone"):
            super().action_restore()
        else:
            self.app.pop_screen()

    def action_leave(self) -> None:
        self.app.pop_screen()


def _opened(path: str) -> list[OpenedRun]:
    return open_runs(Path(path).expanduser())
