"""The decorators and calls in a Python server's text that register tools and prompts, and what they declare.

Understood are ``@app.tool``, ``@app.tool("name", output=...)`` and ``app.tool(self.method, output=...)``, prompts
alike, with options that are written out. A tool that is registered in another way is unknown.
"""

from __future__ import annotations

import ast
from typing import Any

from workbench.pipeline.declaration import Argument, ToolDeclaration, ToolKind
from workbench.pipeline.source_tree import Function, SourceTree, last_name

KINDS: dict[str, ToolKind] = {"tool": "tool", "prompt": "prompt"}
_TEXT_OPTIONS = ("name", "output", "outputs_from", "more_inputs")
_OTHER_OPTIONS = {"description", "title", "tags", "icons", "annotations", "output_schema", "timeout"}
"""Options that change nothing of what a tool takes and gives."""


class Registrations:
    """What a text registers. ``complete`` is false where there may be more tools than ``tools``, or others."""

    def __init__(self, tree: SourceTree) -> None:
        self.tree = tree
        self.tools: dict[str, ToolDeclaration] = {}
        self.complete = True
        self.places: set[ast.AST] = set()
        """Each ``app.tool`` that registers something, understood or not."""
        self._doubtful: set[str] = set()
        self._changed = _changed_names(tree)
        for node in tree.nodes:
            if isinstance(node, ast.Attribute) and node.attr in KINDS:
                self._look_at(node)
        for name in self._doubtful:
            self.tools.pop(name, None)

    def _look_at(self, place: ast.Attribute) -> None:
        parent = self.tree.parents[place]
        call = parent if isinstance(parent, ast.Call) and parent.func is place else None
        outer: ast.AST = self.tree.parents[call] if call is not None else parent
        decorator = call or place
        if isinstance(outer, Function) and decorator in outer.decorator_list:
            self.places.add(place)
            plain = self.tree.always_runs(outer) and outer.decorator_list[-1] is decorator
            options = _options(call, call.args) if call is not None else {}
            self._keep(place, outer, options, plain)
        elif call is not None:
            self.places.add(place)
            target = self._target(call)
            plain = target is not None and not target.decorator_list and target.name not in self._changed
            self._keep(place, target, _options(call, call.args[1:]), plain)

    def _keep(
        self, place: ast.Attribute, function: Function | None, options: dict[str, Any] | None, plain: bool
    ) -> None:
        """Note a tool; one whose name or signature is not certain is unknown, whoever else has its name."""
        name = (options or {}).get("name") or (function.name if function is not None else "")
        if function is None or options is None or not plain or name in self.tools:
            self.complete = False
            self._doubtful.add(name)
        else:
            self.tools[name] = _declaration(name, KINDS[place.attr], function, options)

    def _target(self, call: ast.Call) -> Function | None:
        """The function that ``app.tool(function)`` registers, if it is certain which one that is."""
        first = call.args[0] if call.args else None
        if isinstance(first, ast.Name) and self.tree.always_runs(call):
            return _only(f for f in self.tree.functions if f.name == first.id and self._is_outer(f))
        method = self.tree.method_around(call)
        if method is not None and isinstance(first, ast.Attribute) and last_name(first.value) == "self":
            return _only(f for f in self.tree.functions if f.name == first.attr and self.tree.parents[f] is method[1])
        if isinstance(first, ast.Attribute) and self.tree.always_runs(call):
            return _only(f for f in self.tree.functions if f.name == first.attr)
        return None

    def _is_outer(self, function: Function) -> bool:
        """Whether a name of the module may mean it: it is no method and stands in no other function."""
        return not any(isinstance(node, Function | ast.ClassDef) for node in self.tree.above(function))


def _only(functions: Any) -> Function | None:
    found = list(functions)
    return found[0] if len(found) == 1 else None


def _changed_names(tree: SourceTree) -> set[str]:
    """Names that may no longer mean the function of that name: assigned to, or given another ``__name__``."""
    changed = set()
    for node in tree.nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            changed |= {node.attr, last_name(node.value)} if node.attr.startswith("__") else {node.attr}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            if not any(isinstance(around, Function) for around in tree.above(node)):
                changed.add(node.id)
        elif isinstance(node, ast.Call) and last_name(node.func) == "setattr" and node.args:
            changed.add(last_name(node.args[0]))
    return changed


def _options(call: ast.Call, names: list[ast.expr]) -> dict[str, Any] | None:
    """The options of a registration, ``names`` being its positional ones; None where one is not written out."""
    keywords = [(keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg not in _OTHER_OPTIONS]
    options: dict[str, Any] = {}
    for option, node in [*(("name", name) for name in names), *keywords]:
        try:
            value = ast.literal_eval(node)
        except ValueError:
            return None
        if option is None or option in options or not _is_option(option, value):
            return None
        options[option] = value
    return options


def _is_option(option: str, value: object) -> bool:
    if option in _TEXT_OPTIONS:
        return value is None or isinstance(value, str)
    if option == "whole":
        return isinstance(value, str) or (isinstance(value, tuple | list) and all(isinstance(v, str) for v in value))
    return option == "stateful" and isinstance(value, bool)


def _declaration(name: str, kind: ToolKind, function: Function, options: dict[str, Any]) -> ToolDeclaration:
    whole = options.get("whole", ())
    return ToolDeclaration(
        name=name,
        kind=kind,
        arguments=_arguments(function.args),
        annotation=options.get("output"),
        outputs_from=options.get("outputs_from"),
        whole=(whole,) if isinstance(whole, str) else tuple(whole),
        stateful=options.get("stateful", False),
        more_inputs=options.get("more_inputs"),
        description=ast.get_docstring(function) or "",
    )


def _arguments(signature: ast.arguments) -> tuple[Argument, ...]:
    positional = [*signature.posonlyargs, *signature.args]
    first_default = len(positional) - len(signature.defaults)
    arguments = [
        Argument(argument.arg, required=n < first_default)
        for n, argument in enumerate(positional)
        if not (n == 0 and argument.arg in ("self", "cls")) and not _is_context(argument)
    ]
    arguments += [
        Argument(argument.arg, required=default is None)
        for argument, default in zip(signature.kwonlyargs, signature.kw_defaults, strict=True)
        if not _is_context(argument)
    ]
    return tuple(arguments)


def _is_context(argument: ast.arg) -> bool:
    return argument.annotation is not None and "Context" in ast.unparse(argument.annotation)
