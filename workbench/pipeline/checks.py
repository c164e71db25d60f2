"""Binds every step of a pipeline and reports what can't work: unknown tools, arguments, variables, parameters."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct, field

from workbench.pipeline.binding import AnnotationError, Binding, Interface, Output, interface_of
from workbench.pipeline.declaration import Argument, ServerDeclaration, ToolDeclaration
from workbench.pipeline.model import (
    BranchStep,
    FromMemory,
    FromParameter,
    FromVariable,
    InputSource,
    Pipeline,
    ToolStep,
    is_memory_name,
    walk,
)
from workbench.pipeline.parameter_checks import check_parameters
from workbench.pipeline.parameters import ParameterSet, unset_message
from workbench.pipeline.problems import Position, Problem, nearest
from workbench.pipeline.project import ServerSource


class Checked(Struct, frozen=True):
    """The bindings of all steps whose tool is known (by step path), and every problem found."""

    bindings: Mapping[str, Binding]
    problems: tuple[Problem, ...]
    passed_over: tuple[ToolStep, ...] = ()
    """Steps of which nothing is known until their server runs: neither bound nor reported."""

    @property
    def errors(self) -> tuple[Problem, ...]:
        return tuple(p for p in self.problems if not p.is_warning)


def check(
    pipeline: Pipeline,
    declarations: Mapping[str, ServerDeclaration],
    parameters: ParameterSet,
    sources: Mapping[str, ServerSource],
    unread: frozenset[str] = frozenset(),
) -> Checked:
    """Bind all steps in file order. Servers without a declaration are passed over; so is what hangs on them.

    ``unread`` are the paths of steps that could be read in part only: what they seem to lack is not reported.
    """
    return _Checker(pipeline, declarations, parameters, sources, unread).check()


class _Checker(Struct):
    pipeline: Pipeline
    declarations: Mapping[str, ServerDeclaration]
    parameters: ParameterSet
    sources: Mapping[str, ServerSource]
    unread: frozenset[str]
    problems: list[Problem] = field(default_factory=list)
    bindings: dict[str, Binding] = field(default_factory=dict)
    passed_over: list[ToolStep] = field(default_factory=list)
    produced: dict[str, str] = field(default_factory=dict)
    """Variables that an earlier step gives, each with that step's name."""
    left_out: dict[str, tuple[Position, dict[str, None]]] = field(default_factory=dict)
    """Server -> where a step first takes a parameter that the pipeline's file leaves out, and all such."""
    routers: set[str] = field(default_factory=set)
    """The paths of the steps that decide where items go."""
    is_partial: bool = False
    """Whether an earlier step's outputs are not known, so that a variable may come from there."""

    def check(self) -> Checked:
        self.routers |= {
            step.router[-1].path for step in walk(self.pipeline.steps) if isinstance(step, BranchStep) and step.router
        }
        for step in self.pipeline.tool_steps():
            self._step(step)
        self._memory_inputs()
        self._named_at_top()
        self.problems += [self._left_out(alias) for alias in self.left_out]
        self.problems += check_parameters(self.pipeline, self.declarations, self.parameters)
        return Checked(self.bindings, tuple(self.problems), tuple(self.passed_over))

    def _step(self, step: ToolStep) -> None:
        known = len(self.problems)
        declaration = self._declaration(step)
        interface = self._interface(step, declaration) if declaration is not None else None
        if declaration is None or interface is None:
            if len(self.problems) == known:
                self.passed_over.append(step)
            self._unknown(step)
            return
        inputs = self._inputs(step, declaration, interface)
        outputs = self._outputs(step, declaration, interface)
        self._kind(step, declaration, outputs)
        for output in outputs:
            if not output.is_parameter:
                self.produced.setdefault(output.target, step.name)
        self.is_partial |= step.path in self.unread
        self.bindings[step.path] = Binding(step, declaration, inputs, outputs, step.path in self.routers)

    def _unknown(self, step: ToolStep) -> None:
        """What can be said of a step whose tool is not known; any variable may come from it."""
        self._given_inputs(step)
        self.is_partial = True
        for target in step.outputs.values():
            self.produced.setdefault(target, step.name)

    def _declaration(self, step: ToolStep) -> ToolDeclaration | None:
        server = self.declarations.get(step.alias)
        if server is None:
            return None
        tool = server.tools.get(step.tool)
        if tool is None and server.complete:
            there_is = nearest(step.tool, server.tools, noun="it has") if server.tools else "; it has none"
            message = f"server `{step.alias}` has no tool or prompt `{step.tool}`{there_is}"
            self._report(step.position, step, message)
        return tool

    def _interface(self, step: ToolStep, declaration: ToolDeclaration) -> Interface | None:
        """None where the parameters or the annotation can't be read: a name may mean a variable or a parameter."""
        if not self._knows_parameters(step.alias):
            return None
        try:
            return interface_of(declaration, self.parameters.of(step.alias), step.inputs)
        except AnnotationError as error:
            self._report(step.position, step, f"{declaration.kind} `{step.name}`: {error}")
            return None

    def _knows_parameters(self, alias: str) -> bool:
        return alias in self.sources and alias not in self.parameters.unread

    # ---- inputs

    def _inputs(self, step: ToolStep, declaration: ToolDeclaration, interface: Interface) -> dict[str, InputSource]:
        arguments = {argument.name: argument for argument in declaration.arguments}
        for name in step.inputs:
            if name not in arguments and name not in interface.inputs and declaration.more_inputs is None:
                self._report(
                    step.place(f"input.{name}"),
                    step,
                    f"{declaration.kind} `{step.name}` has no parameter `{name}`" + _has(arguments),
                )
        bound: dict[str, InputSource] = {}
        for name, argument in arguments.items():
            given = step.inputs.get(name)
            source = given or interface.inputs.get(name)
            if source is None:
                if argument.required and step.path not in self.unread:
                    self._report(step.position, step, f"{step.name} needs `{name}`, and nothing gives it")
            elif self._usable(step, argument, source, is_given=given is not None):
                bound[name] = source
        for name in interface.inputs.keys() - arguments.keys():
            bound[name] = interface.inputs[name]
        if declaration.more_inputs is not None:
            further = {name: source for name, source in step.inputs.items() if name not in arguments}
            bound |= {n: s for n, s in further.items() if self._usable(step, Argument(n), s, is_given=True)}
        return bound

    def _given_inputs(self, step: ToolStep) -> None:
        for name, source in step.inputs.items():
            if not isinstance(source, FromParameter) or self._knows_parameters(step.alias):
                self._usable(step, Argument(name), source, is_given=True)

    def _usable(self, step: ToolStep, argument: Argument, source: InputSource, *, is_given: bool) -> bool:
        """Whether a source can be read; one that can't is left out if the tool has a default, else reported."""
        if not is_given and step.path in self.unread:
            return True
        place = step.place(f"input.{argument.name}") if is_given else step.position
        if isinstance(source, FromParameter):
            return self._usable_parameter(step, argument, source.name, place, is_given)
        if isinstance(source, FromVariable) and source.name not in self.produced:
            if not is_given and not argument.required:
                return False
            if not self.is_partial:
                self._report(place, step, self._unknown_variable(step, argument, source.name, is_given))
        return True

    def _usable_parameter(self, step: ToolStep, argument: Argument, name: str, place: Position, is_given: bool) -> bool:
        known = self.parameters.of(step.alias)
        if name in known:
            if known[name].missing:
                self._report(place, step, f"step {step.path} ({step.name}): {unset_message(name, known[name])}")
            elif self._is_left_out_of_file(step.alias, name):
                self.left_out.setdefault(step.alias, (place, {}))[1][name] = None
            return True
        if not is_given and not argument.required:
            return False
        self._report(
            place,
            step,
            f"step {step.path} ({step.name}) needs the parameter `{name}`, which is in neither "
            f"{_shown(self.parameters.file)} (section `{step.alias}`) nor {self._server_file(step.alias)}"
            + nearest(name, known, noun=f"parameters of `{step.alias}`"),
        )
        return True

    def _is_left_out_of_file(self, alias: str, name: str) -> bool:
        """Whether the pipeline's parameter file has a section for the server, and this parameter is not in it."""
        known, file = self.parameters.of(alias), str(self.parameters.file)
        return known[name].origin not in (file, "--set") and any(value.origin == file for value in known.values())

    def _left_out(self, alias: str) -> Problem:
        """Says that parameters come from the server's own file: once for a server, however many they are."""
        place, names = self.left_out[alias]
        known, several = self.parameters.of(alias), len(names) > 1
        origin = ", ".join(dict.fromkeys(str(known[name].origin) for name in names))
        message = (
            f"`{alias}`: the parameter{'s' if several else ''} {', '.join(f'`{name}`' for name in names)} "
            f"{'are' if several else 'is'} not in {_shown(self.parameters.file)}; "
            f"the default{'s' if several else ''} of {origin} count{'' if several else 's'}"
        )
        return Problem(self.pipeline.file, place, message, is_warning=True, is_note=True)

    def _server_file(self, alias: str) -> str:
        source = self.sources.get(alias)
        if source is None or source.script is None:
            return "the server's own defaults"
        folder = source.script.parent.parent if source.script.parent.name == "src" else source.script.parent
        return str(source.parameter_file or folder / "parameter.yaml")

    def _unknown_variable(self, step: ToolStep, argument: Argument, name: str, is_given: bool) -> str:
        message = f"step {step.path} ({step.name}) reads the variable `{name}`, which no earlier step gives"
        later = self._later_producer(name)
        if later is not None:
            return f"{message}; step {later.path} ({later.name}) gives it, but comes later"
        message += nearest(name, self.produced, noun="variables so far")
        if name in self.parameters.of(step.alias):
            return f"{message}; for the parameter of that name write `${name}`"
        if is_given:
            message += f" (a text of your own goes into the parameter file: write `{argument.name}: $its_name`)"
        return message

    def _later_producer(self, name: str) -> ToolStep | None:
        for step in self.pipeline.tool_steps():
            if name in step.outputs.values() and step.path not in self.bindings:
                return step
        return None

    # ---- outputs

    def _outputs(self, step: ToolStep, declaration: ToolDeclaration, interface: Interface) -> tuple[Output, ...]:
        declared = {spec.removeprefix("$"): spec for spec in interface.outputs}
        for name in step.outputs:
            if name not in declared:
                self._report(
                    step.place(f"output.{name}"),
                    step,
                    f"{declaration.kind} `{step.name}` has no output `{name}`" + _has(declared),
                )
        outputs = tuple(
            self._output(step, declaration, name, step.outputs.get(name, spec)) for name, spec in declared.items()
        )
        targets: dict[str, str] = {}
        for output in outputs:
            key = f"${output.target}" if output.is_parameter else output.target
            if key in targets:
                self._report(
                    step.place(f"output.{output.declared}")
                    if output.declared in step.outputs
                    else step.place(f"output.{targets[key]}"),
                    step,
                    f"{step.name}: the outputs `{targets[key]}` and `{output.declared}` would both be called `{key}`",
                )
            targets[key] = output.declared
        return outputs

    def _output(self, step: ToolStep, declaration: ToolDeclaration, name: str, target: str) -> Output:
        place = step.place(f"output.{name}")
        if target.startswith("$"):
            known = self.parameters.of(step.alias)
            if target[1:] not in known:
                self._report(
                    place,
                    step,
                    f"{step.name}: there is no parameter `{target[1:]}` to write to" + nearest(target[1:], known),
                )
            return Output(name, target[1:], is_parameter=True)
        if is_memory_name(target):
            self._report(
                place,
                step,
                f"{step.name}: no output may be called `{target}`; names with `memory_` are memory lists",
            )
        return Output(name, target, is_whole=name in declaration.whole or target in self.pipeline.whole)

    def _kind(self, step: ToolStep, declaration: ToolDeclaration, outputs: tuple[Output, ...]) -> None:
        if declaration.kind == "prompt" and len(outputs) > 1:
            names = ", ".join(f"`{output.declared}`" for output in outputs)
            self._report(
                step.position,
                step,
                f"prompt `{step.name}` declares several outputs ({names}); a prompt has one",
            )
        if step.path in self.routers and not any(not output.is_parameter for output in outputs):
            self._report(step.position, step, f"the router `{step.name}` has no outputs, so it can't route anything")

    # ---- after the walk

    def _memory_inputs(self) -> None:
        """A memory list may be read before its first save, but some step must give its variable."""
        if self.is_partial:
            return
        for step in self.pipeline.tool_steps():
            for name, source in step.inputs.items():
                if isinstance(source, FromMemory) and not self._has_memory(step, source.variable):
                    self._report(
                        step.place(f"input.{name}"),
                        step,
                        f"step {step.path} ({step.name}) reads `memory_{source.variable}`, but no step gives "
                        f"`{source.variable}`" + nearest(source.variable, self.produced, noun="variables"),
                    )

    def _has_memory(self, step: ToolStep, variable: str) -> bool:
        return variable in self.produced or variable in self.parameters.of(step.alias)

    def _named_at_top(self) -> None:
        named = [("items", self.pipeline.items)] if self.pipeline.items else []
        named += [("whole", name) for name in sorted(self.pipeline.whole)]
        counted = self.pipeline.items or ("q_ls" if "q_ls" in self.produced else None)
        for key, name in named:
            place = self.pipeline.places.get(f"{key}.{name}")
            if key == "whole" and name == counted:
                message = f"`whole:` names `{name}`, which sets the number of items; name another list under `items:`"
                self.problems.append(Problem(self.pipeline.file, place, message))
            elif name not in self.produced and not self.is_partial:
                message = f"`{key}:` names `{name}`, which no step gives"
                message += nearest(name, self.produced, noun="variables")
                self.problems.append(Problem(self.pipeline.file, place, message))

    def _report(self, position: Position, step: ToolStep, message: str) -> None:
        self.problems.append(Problem(self.pipeline.file, position, message))


def _has(names: Mapping[str, object]) -> str:
    return f" (it has: {', '.join(names)})" if names else " (it has none)"


def _shown(file: Path | None) -> str:
    return str(file.resolve()) if file is not None else "the parameter file"
