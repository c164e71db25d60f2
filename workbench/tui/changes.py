"""What the user changes by hand: values, breakpoints, decisions, servers. Each asks, then tells the engine."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

from workbench.engine.breakpoint_text import read_breakpoint, read_watch, written_breakpoint
from workbench.engine.inputs import BoundInput
from workbench.engine.pool import Variable
from workbench.engine.timeline import Timeline
from workbench.engine.values import count_of
from workbench.pipeline.model import BranchStep
from workbench.pipeline.project import ServerSource
from workbench.tui.answers_dialog import WORDS, AnswersDialog, ChosenAnswers
from workbench.tui.bridge import EngineThread
from workbench.tui.dialogs import Choose, Confirm, LineDialog
from workbench.tui.forks_compared import compare_timelines
from workbench.tui.lens import NOT_THIS_ITEM, item_of_variable
from workbench.tui.model import Model
from workbench.tui.pane_screen import PaneScreen
from workbench.tui.rows import RowsView
from workbench.tui.step_pane import StepPane
from workbench.tui.values_view import Path, path_name
from workbench.tui.variables_pane import ParameterAt, VariablesPane


class Changes:
    """Opens the dialogs of a screen."""

    def __init__(self, screen: PaneScreen, engine: EngineThread, model: Model) -> None:
        self._screen = screen
        self._engine = engine
        self._debugger = engine.debugger
        self._model = model

    # ---- breakpoints

    def toggle_breakpoint(self, step: str | None) -> None:
        if step is None:
            self._screen.say("a breakpoint belongs to a step: select one in the pipeline")
        elif step in self._debugger.breakpoints.by_step:
            self._breakpoints(self._debugger.breakpoints.remove, step)
        else:
            self._breakpoints(self._debugger.breakpoints.set, step)

    def switch_breakpoint(self, step: str | None) -> None:
        found = self._debugger.breakpoints.by_step.get(step or "")
        if found is None:
            self._screen.say("there is no breakpoint at this step")
        else:
            self._breakpoints(self._debugger.breakpoints.enable, found.step, not found.is_enabled)

    def edit_breakpoint(self, step: str | None) -> None:
        if step is None:
            self._screen.say("a breakpoint belongs to a step: select one in the pipeline")
            return
        name = self._debugger.program.steps[step].name
        found = self._debugger.breakpoints.shown_at(step, name)
        text = written_breakpoint(found) if found is not None and found.step == step else f"{step}: "
        hits = f" · stopped {found.hits} times" if found is not None else ""

        async def apply(line: str) -> None:
            read = read_breakpoint(line.removesuffix(":"), self._debugger.program)
            if found is not None and found.key != read.key and found.step == step:
                await self._call(self._debugger.breakpoints.remove, found.key)
            await self._call(self._debugger.breakpoints.add, read)

        hint = "after · round 2 · item 7 · hits >= 3 narrow it down; : CONDITION; => TEMPLATE prints and goes on"
        example = f"{step} round 2: q_ls | length > 3"
        self._screen.app.push_screen(LineDialog(f"Stop at {name}{hits}", text, apply, example=example, hint=hint))

    def watch(self) -> None:
        async def apply(line: str) -> None:
            await self._call(self._debugger.breakpoints.watch, read_watch(line))

        hint = "written · changes · empty: of a variable; or an expression that turns true. K lists them."
        title = "Stop after the step that"
        self._screen.app.push_screen(LineDialog(title, "", apply, example="ret_psg empty", hint=hint))

    def list_breakpoints(self) -> None:
        from workbench.tui.breakpoint_list import BreakpointList

        self._screen.app.push_screen(BreakpointList(self._debugger.breakpoints, self._breakpoints))

    def _breakpoints(self, command: Callable[..., None], *args: Any) -> None:
        self._engine.submit(command, *args)

    # ---- values

    def edit(self, rows: RowsView, step: StepPane, variables: VariablesPane) -> bool:
        """Edit what is at the cursor; False where that can't be changed."""
        if rows is variables and variables.parameter is not None:
            self._edit_parameter(variables.parameter)
        elif rows is variables and variables.is_at_parameters:
            self._screen.say("open the row (Space or →) and select the parameter to edit")
        elif rows is variables and variables.variable is not None:
            self._edit_variable(self._debugger.state.pool.variables[variables.variable], variables.index)
        elif rows is step.outputs and step.output is not None:
            self._edit_output(*step.output)
        elif rows is step.inputs and step.argument is not None:
            if step.inputs.named_value is None:
                self._screen.say(f"item [{self._model.lens}] is {NOT_THIS_ITEM}")
            else:
                self._edit_input(*step.argument)
        else:
            return False
        return True

    def _edit_parameter(self, at: ParameterAt) -> None:
        whole = self._debugger.state.pool.parameters[at.alias][at.name].value

        async def apply(value: Any) -> None:
            edited = _with_entry(whole, at.path, value)
            await self._call(self._debugger.edit_parameter, at.alias, at.name, edited)

        self._edit(f"Parameter {path_name(at.name, at.path)} of {at.alias}", _entry(whole, at.path), apply)

    def _edit_variable(self, variable: Variable, index: int | None) -> None:
        """An item list is edited as a whole, or the item that is pinned or that the cursor is on."""
        item = self._model.lens if self._model.lens is not None else index
        value, is_item = item_of_variable(self._debugger.state.pool, variable, item)
        if not is_item:
            apply = partial(self._call, self._debugger.edit_variable, variable.name)
            self._edit(f"Variable {variable.name}", value, apply)
            return

        if value is NOT_THIS_ITEM:
            self._screen.say(f"item [{item}] is {NOT_THIS_ITEM}")
            return

        async def apply_to_item(value: Any) -> None:
            await self._call(self._debugger.edit_variable, variable.name, value, item)

        self._edit(f"Item [{item}] of {variable.name}", value, apply_to_item)

    def _edit_output(self, visit: int, name: str) -> None:
        """What a past visit gave; the run goes to right after it. With the lens on, the pinned item's entry."""
        moment = self._debugger.moment(visit)
        if name in moment.visit.parameters:
            apply = partial(self._call, self._debugger.edit_output, visit, name)
            self._edit(f"Parameter {name}, as visit {visit} left it", moment.visit.parameters[name], apply)
            return
        value, is_item = item_of_variable(moment.after, moment.visit.saved[name], self._model.lens)
        item = self._model.lens if is_item else None
        if value is NOT_THIS_ITEM:
            self._screen.say(f"item [{item}] is {NOT_THIS_ITEM}")
            return

        async def apply_to_output(value: Any) -> None:
            await self._call(self._debugger.edit_output, visit, name, value, item)

        of_item = f"Item [{item}] of " if is_item else ""
        self._edit(f"{of_item}output {name} of visit {visit}", value, apply_to_output)

    def _edit_input(self, given: BoundInput, position: int | None) -> None:
        """An input is edited as a whole, or with the lens on the one entry that is the pinned item's."""
        title = f"Input {given.argument}, for this visit only"
        if position is None:
            self._edit(title, given.value, partial(self._call, self._debugger.edit_input, given.argument))
            return

        async def apply_to_entry(value: Any) -> None:
            from workbench.tui.edit_dialog import like

            entries = [*given.value[:position], like(given.value[position], value), *given.value[position + 1 :]]
            await self._call(self._debugger.edit_input, given.argument, entries)

        self._edit(f"Item [{self._model.lens}] of {title}", given.value[position], apply_to_entry)

    def _edit(self, title: str, value: Any, apply: Callable[[Any], Awaitable[None]]) -> None:
        # Its editor is slow to load, and not needed for the first picture.
        from workbench.tui.edit_dialog import EditDialog, NotEditable, editable

        try:
            text, is_json = editable(value)
        except NotEditable as error:
            self._screen.say(str(error))
        else:
            self._screen.app.push_screen(EditDialog(title, text, is_json, apply))

    # ---- routers

    def decide(self) -> None:
        routes = self._debugger.routes
        step = self._model.present_step
        branch = self._debugger.program.blocks[step.path.rpartition(".")[0]].owner if step is not None else None
        if routes is None or step is None or not isinstance(branch, BranchStep):
            self._screen.say("a decision can be changed right after a router has made it: step over the router")
            return
        pool = self._debugger.state.pool
        first = next(iter(self._debugger.visits[-1].saved.values()), None)
        values = dict(enumerate(pool.variables[first.name].value)) if first is not None else {}

        async def apply(changed: Mapping[int, str]) -> None:
            for item, state in changed.items():
                await self._call(self._debugger.edit_state, item, state)

        from workbench.tui.router_dialog import RouterDialog

        dialog = RouterDialog(f"What {step.name} decided", dict(routes), list(branch.branches), values, apply)
        self._screen.app.push_screen(dialog)

    # ---- the run and its servers

    def restart(self) -> None:
        def answered(is_wanted: bool | None) -> None:
            if is_wanted:
                self._engine.submit(self._debugger.restart)

        self._screen.app.push_screen(Confirm("Begin the run anew? What it has written so far is kept."), answered)

    def restart_server(self) -> None:
        """Those whose state is ahead of the cursor come first, and go together."""
        debugger = self._debugger
        offers: dict[str, Callable[[], object]] = {}
        stateful = debugger.out_of_step()
        if stateful:
            words = f"{' and '.join(stateful)}: back to the state of this place"
            offers[words] = partial(self._engine.submit, debugger.restart_servers)
        for source in debugger.prepared.used_sources().values():
            offers[self._start_words(source)] = partial(self._engine.submit, debugger.restart_server, source.alias)
        for source in debugger.prepared.used_sources().values():
            if source.address is None and self._is_up(source.alias):
                offers[f"stop {source.alias}"] = partial(self._engine.submit, debugger.stop_server, source.alias)

        def chosen(name: str | None) -> None:
            if name is not None:
                offers[name]()

        self._screen.app.push_screen(Choose("Which server?", list(offers)), chosen)

    def _is_up(self, alias: str) -> bool:
        server = self._model.servers.get(alias)
        return server is not None and server.phase in ("starting", "ready")

    def _start_words(self, source: ServerSource) -> str:
        """A server that is an address runs elsewhere: only our session with it is begun anew."""
        if source.address is not None:
            return f"{source.alias}  (an address: connected to anew; it is not stopped)"
        return f"{'restart' if self._is_up(source.alias) else 'start'} {source.alias}"

    # ---- timelines

    def switch_timeline(self) -> None:
        timelines = self._debugger.timelines
        if len(timelines) == 1:
            self._screen.say("there is one timeline: a fork begins where you go back and run on")
            return
        present = self._debugger.state.timeline
        names = {_timeline_words(timeline, present): number for number, timeline in timelines.items()}

        def chosen(name: str | None) -> None:
            if name is not None:
                self._engine.submit(self._debugger.switch_to, names[name])

        self._screen.app.push_screen(Choose("Go to which timeline?", list(names)), chosen)

    def compare_timelines(self) -> None:
        debugger = self._debugger
        present = debugger.timeline.number
        others = {_timeline_words(t, present): number for number, t in debugger.timelines.items() if number != present}
        if not others:
            self._screen.say("there is one timeline: a fork begins where you go back and run on")
            return

        def chosen(name: str | None) -> None:
            if name is not None:
                compare_timelines(self._screen, debugger, others[name])

        if len(others) == 1:
            chosen(next(iter(others)))
        else:
            self._screen.app.push_screen(Choose("Compare this timeline with which?", list(others)), chosen)

    def choose_answers(self) -> None:
        debugger = self._debugger

        def chosen(answers: ChosenAnswers | None) -> None:
            if answers is not None:
                self._engine.submit(setattr, debugger, "answers_by_step", answers.by_step)
                self._engine.submit(setattr, debugger, "answers", answers.answers)
                others = f"; {count_of(len(answers.by_step), 'step')} otherwise" if answers.by_step else ""
                self._screen.say(f"steps that were recorded: {WORDS[answers.answers]}{others}")

        steps = [(step.path, step.name) for step in debugger.prepared.pipeline.tool_steps()]
        title = "Steps that were recorded are, after a fork"
        self._screen.app.push_screen(AnswersDialog(title, steps, debugger.answers, debugger.answers_by_step), chosen)

    def switch_failures(self) -> None:
        is_on = not self._debugger.breakpoints.on_failure
        self._breakpoints(self._debugger.breakpoints.stop_on_failure, is_on)
        self._screen.say("a failed step stops the run" if is_on else "a failed step ends the run as failed")

    async def _call(self, command: Callable[..., Any], *args: Any) -> None:
        await self._engine.call(command, *args)


def _timeline_words(timeline: Timeline, present: int) -> str:
    begin = f"fork of {timeline.parent} before visit {timeline.parent_visit}" if timeline.parent else "the first"
    if timeline.parent and timeline.parent_visit is None:
        begin = f"fork of {timeline.parent} at its end"
    here = " · here" if timeline.number == present else ""
    visits = count_of(len(timeline.ran), "visit")
    if timeline.is_cut:
        visits = f"{len(timeline.moments)} of {visits} fit the pipeline as it is now"
    return f"{timeline.number}  {begin} · {visits}{here}"


def _entry(value: Any, path: Path) -> Any:
    for key in path:
        value = value[key]
    return value


def _with_entry(value: Any, path: Path, entry: Any) -> Any:
    """The value with another entry at a path; nothing is changed in place."""
    if not path:
        return entry
    key, *rest = path
    copy: Any = list(value) if isinstance(value, list) else dict(value)
    copy[key] = _with_entry(value[key], tuple(rest), entry)
    return copy
