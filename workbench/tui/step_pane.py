"""The step pane: what a step is given and gave, its prompts, its lines, what is different, its error."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Vertical

from workbench.engine.inputs import BoundInput, BoundInputs, Skip, StepError
from workbench.engine.state import CommandRefused
from workbench.engine.values import Message
from workbench.engine.visit import Visit
from workbench.pipeline.binding import described_source
from workbench.pipeline.model import FromParameter, Step, ToolStep
from workbench.tui.actions import WORKBENCH
from workbench.tui.bars import Bar, TabBar
from workbench.tui.diff_view import DiffView, heading
from workbench.tui.keymap import keymap_of
from workbench.tui.lens import NOT_THIS_ITEM, item_of_input, item_of_variable, position_in_input
from workbench.tui.model import Model
from workbench.tui.net import Guarded
from workbench.tui.prompt_text import length_words, messages_in, prompt_text
from workbench.tui.rows import Part, RowsView
from workbench.tui.source_view import SourceView
from workbench.tui.text import content
from workbench.tui.text_view import TextView
from workbench.tui.values_view import Root, ValuesView
from workbench.tui.visit_diff import VisitDiff

_NOTHING_TO_COMPARE = heading("", "it has not run yet: there is nothing to compare")
TABS = ("Inputs", "Output", "Prompt", "Source", "Diff", "Error")


class StepPane(Guarded, Vertical):
    """Shows the step that is selected: as it would run now, or in one of its visits."""

    def __init__(self, model: Model, *, id: str) -> None:
        super().__init__(id=id)
        self._model = model
        self._step: Step | None = None
        self._visit: Visit | None = None
        self.is_past = False
        self._front = 0
        self._seen_error: str | None = None
        self._is_prompt_of_visit = False
        self._prompt_length = ""
        self._diff: VisitDiff | None = None

    def compose(self) -> ComposeResult:
        yield TabBar(id="step-tabs")
        yield ValuesView("no inputs", id="inputs")
        yield ValuesView(id="output")
        yield TextView(id="heard")
        yield TextView(id="prompt")
        yield SourceView(self._model, id="source")
        yield DiffView(id="diff")
        yield TextView(id="error")
        yield Bar(id="step-note")

    def on_mount(self) -> None:
        self.show_tab(0)

    @property
    def views(self) -> list[RowsView]:
        """One for each tab. Before a visit has ended, what it said stands in for its output."""
        names = [name.lower() for name in TABS]
        if self._said() is not None:
            names[TABS.index("Output")] = "heard"
        return [self.query_one(f"#{name}", RowsView) for name in names]

    @property
    def view(self) -> RowsView:
        """The tab in front."""
        return self.views[self._front]

    @property
    def inputs(self) -> ValuesView:
        return self.query_one("#inputs", ValuesView)

    @property
    def source(self) -> SourceView:
        return self.query_one("#source", SourceView)

    @property
    def argument(self) -> tuple[BoundInput, int | None] | None:
        """The input at the cursor, if it is one of the step that runs next; and where the pinned item stands in it."""
        node, bound = self.inputs.node, self._bound()
        if not self._is_next or node is None or not isinstance(bound, BoundInputs):
            return None
        given = next((given for given in bound.inputs if given.argument == node.root.key), None)
        return (given, position_in_input(given, bound, self._model.lens)) if given is not None else None

    @property
    def outputs(self) -> ValuesView:
        return self.query_one("#output", ValuesView)

    @property
    def output(self) -> tuple[int, str] | None:
        """Visit and name of the output at the cursor, if it is one of this timeline that can be changed."""
        node, visit = self.outputs.node, self._visit
        if node is None or visit is None or self._model.debugger.timeline.index_of(visit.number) is None:
            return None
        name = next((name for name in (*visit.saved, *visit.parameters) if (visit.number, name) == node.root.key), None)
        return (visit.number, name) if name is not None else None

    def show_tab(self, index: int) -> None:
        self._front = index % len(TABS)
        front, others = self.view, list(self.query(RowsView).exclude(f"#{self.view.id}"))
        front.display = True
        if any(view.has_focus for view in others):
            self.screen.set_focus(front)
        for view in others:
            view.display = False
        self._show_tabs()
        self._show_title()
        if TABS[self._front] == "Diff":
            self._show_diff()
        self._show_note()

    def show_result(self) -> None:
        """Bring what came of the step to the front."""
        self.show_tab(TABS.index("Output" if self._error() is None else "Error"))

    def show_tab_beside(self, distance: int) -> None:
        """Go to the tab before or after; the one for errors is passed over where there is none."""
        index = (self._front + distance) % len(TABS)
        if TABS[index] == "Error" and self._error() is None:
            index = (index + distance) % len(TABS)
        self.show_tab(index)

    @on(TabBar.Picked)
    def _tab_picked(self, event: TabBar.Picked) -> None:
        event.stop()
        self.show_tab(event.index)
        self.screen.set_focus(self.view)

    # ---- what it shows

    def show(self, step: Step | None, visit: Visit | None = None) -> None:
        """Show a step; ``visit`` is one that was picked, else it is the step as it stands now."""
        self._step, self.is_past = step, visit is not None
        self._visit = visit
        self.refresh_shown()

    def refresh_shown(self) -> None:
        """Show the same step again, as it stands now."""
        step = self._step
        if not self.is_past:
            self._visit = self._model.last_visit(step.path) if step is not None else None
        self._show_title()
        bound = self._bound()
        self.inputs.show(list(self._inputs(bound)), self._no_inputs(bound))
        self.outputs.show(list(self._outputs()), self._no_outputs())
        self._show_said()
        self._show_prompt(bound)
        self.source.show(step)
        self._show_error(self._error())
        self.show_tab(self._front)

    def _show_title(self) -> None:
        """The step and, unless it runs next, its visit; that goes to the lower edge where there is no room for both."""
        name = f"Step {self._step.path} {self._step.name}" if self._step is not None else "Step"
        visit = _visit_words(self._visit) if self._visit is not None and self._shows_visit else ""
        has_room = len(name) + len(visit) + 9 <= self.size.width
        self.border_title = content(f"{name} · {visit}" if visit and has_room else name)
        self.border_subtitle = content("" if has_room else visit)

    @property
    def _shows_visit(self) -> bool:
        """Whether the tab in front is about a visit, and not about what the step that runs next would be given."""
        tab = TABS[self._front]
        return not self._is_next or tab in ("Output", "Diff") or (tab == "Prompt" and self._is_prompt_of_visit)

    def on_resize(self) -> None:
        self._show_title()

    def _show_said(self) -> None:
        """Show what the visit said so far; its end stays in view while the cursor is there."""
        heard = self.query_one("#heard", TextView)
        was_last = heard.cursor >= heard.row_count() - 1
        heard.show(self._said() or "")
        if was_last:
            heard.move_cursor(heard.row_count() - 1)

    def _said(self) -> str | None:
        """What a visit that runs, or has failed, told of itself; None where there is nothing to tell."""
        visit, heard = self._visit, self._model.heard
        if visit is None or visit.status == "finished":
            return None
        text = heard.text if heard.visit == visit.number else ""
        if visit.status != "running":
            return text or None
        return f"running\n\n{text}" if text else "running"

    def _show_error(self, error: str | None) -> None:
        """An error that was not seen yet comes to the front."""
        self.query_one("#error", TextView).show(error or "")
        if error is not None and error is not self._seen_error:
            self.show_tab(TABS.index("Error"))
        elif error is None and TABS[self._front] == "Error":
            self.show_tab(0)
        self._seen_error = error

    def _show_tabs(self) -> None:
        names = TABS if self._error() is not None else TABS[:-1]
        self.query_one(TabBar).show_tabs(names, self._front)

    @property
    def _is_next(self) -> bool:
        state = self._model.debugger.state
        is_at_cursor = self._step is not None and self._step.path == state.place.step
        has_decided = self._model.debugger.routes is not None
        return is_at_cursor and state.status == "stopped" and not self.is_past and not has_decided

    def _bound(self) -> BoundInputs | Skip | StepError | None:
        """The inputs of the visit; of the step that runs next, what it would be given."""
        if self._is_next:
            return self._model.debugger.inputs()
        return self._visit.bound if self._visit is not None else None

    def _inputs(self, bound: BoundInputs | Skip | StepError | None) -> Iterator[Root]:
        if not isinstance(bound, BoundInputs):
            return
        for given in bound.inputs:
            value, is_item = item_of_input(given, bound, self._model.lens)
            name = f"{given.argument} [{self._model.lens}]" if is_item else given.argument
            if isinstance(given.source, FromParameter):
                value = self._model.without_secrets(value)
            yield Root(
                name,
                value,
                _origin(given, self._model.debugger.prepared.project, is_item=is_item),
                look="mark" if given.is_edited and not is_item else "name",
                key=given.argument,
            )

    def _no_inputs(self, bound: BoundInputs | Skip | StepError | None) -> str:
        if isinstance(bound, Skip):
            return f"it would be passed over: {bound.reason}"
        if isinstance(bound, StepError):
            return str(bound)
        if isinstance(bound, BoundInputs):
            return "it takes no inputs"
        if isinstance(self._step, ToolStep):
            return "not known before its turn comes"
        if self._step is None:
            return "nothing is selected"
        return f"it has no inputs of its own: {keymap_of(self.app).shown(WORKBENCH)['step_into']} goes into it"

    def _outputs(self) -> Iterator[Root]:
        if self._visit is None:
            return
        pool, lens = self._model.debugger.state.pool, self._model.lens
        yield from _what_went_wrong(self._visit, lens)
        for name, variable in self._visit.saved.items():
            value, is_item = item_of_variable(pool, variable, lens)
            if is_item and variable.written is not None and lens not in variable.written:
                value = NOT_THIS_ITEM
            notes = (Part(_visit_words(self._visit), "dim"),) if self._is_next else ()
            yield Root(f"{name} [{lens}]" if is_item else name, value, notes, key=(self._visit.number, name))
        for name, value in self._visit.parameters.items():
            notes = (Part(f"parameter of {self._visit.alias}", "dim"),)
            yield Root(name, self._model.without_secrets(value), notes, key=(self._visit.number, name))
        for name, value in self._visit.extra.items():
            yield Root(name, value, (Part("not declared as an output", "warning"),), key=self._visit.number)

    def _no_outputs(self) -> str:
        return "it has not run yet" if self._visit is None else f"it {self._visit.status} and wrote nothing"

    def _show_prompt(self, bound: BoundInputs | Skip | StepError | None) -> None:
        messages: list[Message] = []
        if isinstance(bound, BoundInputs):
            values = [item_of_input(given, bound, self._model.lens)[0] for given in bound.inputs]
            if NOT_THIS_ITEM in values:
                self._prompt_length = ""
                self.query_one("#prompt", TextView).show(f"item [{self._model.lens}] is {NOT_THIS_ITEM}")
                return
            messages = [message for value in values for message in messages_in(value)]
        came_out = not messages
        if came_out:
            messages = [message for root in self._outputs() for message in messages_in(root.value)]
        self._is_prompt_of_visit = came_out and bool(messages)
        nothing = "no prompt goes into this step or comes out of it"
        self._prompt_length = length_words(messages) if messages else ""
        self.query_one("#prompt", TextView).show(prompt_text(messages) if messages else nothing)

    def _show_note(self) -> None:
        """The line at the foot of a tab, where there is something to say of it."""
        other = "P pipeline" if self.source.is_code else "P tool's code"
        notes = {
            "Prompt": (self._prompt_length, ""),
            "Source": (self.source.place, other),
            "Diff": (self._diff.note() if self._diff is not None else "", ""),
        }
        left, right = notes.get(TABS[self._front], ("", ""))
        bar = self.query_one("#step-note", Bar)
        bar.display = bool(left or right)
        bar.show([Part(left, "dim")], [Part(right, "dim")])

    @on(RowsView.Highlighted, "#source")
    def _source_line_changed(self) -> None:
        self._show_note()

    def switch_source(self) -> None:
        """Bring the source to the front: the pipeline's file, or the code of the step's tool."""
        if TABS[self._front] == "Source" or not self.source.is_code:
            self.source.switch()
        self.show_tab(TABS.index("Source"))

    # ---- what is different

    @work(group="looking", exclusive=True, exit_on_error=False)
    async def _show_diff(self) -> None:
        made = self._diff = self._visit_diff()
        lines = await asyncio.to_thread(made.lines) if made is not None else []
        self.query_one("#diff", DiffView).show(lines or [_NOTHING_TO_COMPARE])
        self._show_note()

    def _visit_diff(self) -> VisitDiff | None:
        debugger, visit = self._model.debugger, self._visit
        if visit is None or visit.status == "running":
            return None
        try:
            changes = debugger.changes(visit.number)
        except CommandRefused:  # it failed, or belongs to another timeline
            changes = ()
        other = debugger.counterpart(visit)
        return VisitDiff(visit, other, changes, debugger.state.pool, self._model.lens, self._model.without_secrets)

    def _error(self) -> str | None:
        visit = self._visit
        if visit is not None and visit.error is not None:
            return visit.error
        state = self._model.debugger.state
        is_present = self._step is not None and state.place.step == self._step.path and not self.is_past
        return state.stop.why if is_present and state.stop is not None and state.stop.reason == "failed" else None


def _what_went_wrong(visit: Visit, lens: int | None) -> Iterator[Root]:
    """The items that failed, each with its reason, and the warnings; of a pinned item only what is about it."""
    failures = {item: reason for item, reason in visit.failures.items() if lens is None or item == lens}
    if failures:
        named = {f"[{item}]": reason for item, reason in failures.items()}
        notes = (Part("out of the run", "bad"),)
        yield Root("failed items", named, notes, key=(visit.number, "failed items"))
    # The first warning of a visit with failures tells of these.
    warnings = list(visit.warnings[1:] if visit.failures else visit.warnings)
    if warnings and lens is None:
        yield Root("warnings", warnings, (), key=(visit.number, "warnings"))


def _visit_words(visit: Visit) -> str:
    """Which visit it is, and where in the run that was."""
    past = "" if visit.status == "running" else "past "
    attempt = f" attempt {visit.attempt}" if visit.attempt > 1 else ""
    rounds = [f"round {number}" for number in visit.round[-1:]]
    return " · ".join([f"{past}visit {visit.number}{attempt}", *rounds, *visit.branch])


def _origin(given: BoundInput, project: Path, *, is_item: bool) -> tuple[Part, ...]:
    """Who gave it, and the source as it is written; files of the project without the way to it.

    Which items of an input were edited is not known: of a single one nothing is said.
    """
    if given.is_edited:
        return () if is_item else (Part("edited", "mark"),)
    giver = f"visit {given.visit}" if given.visit is not None else given.origin.replace(f"{project}/", "")
    source = described_source(given.source)[:30]
    if source == given.argument:
        return (Part(giver, "dim"),)
    return (Part(f"{giver} · ", "dim"), Part(source, "value"))
