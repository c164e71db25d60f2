"""Whether a Python server's text keeps its app to itself: only then does it show every tool there is.

The app may be given to functions and classes of the same text, since what they do with it stands there as well. One
that is handed elsewhere, renamed out of sight, or asked for anything unknown may get tools that the text does not show.
"""

from __future__ import annotations

import ast

from workbench.pipeline.registrations import Registrations
from workbench.pipeline.source_tree import Function, SourceTree, last_name

_MAKERS = {"FastMCP", "ToolServer", "UltraRAG_MCP_Server"}
_MAKER_OPTIONS = {"name", "instructions", "version"}
"""Options of a new app that bring no tools with them."""
_HARMLESS = {"run", "run_async", "run_stdio_async", "run_http_async", "logger", "load_config", "name", "instructions"}
_HARMLESS |= {"resource", "custom_route"}


def uses_app_plainly(found: Registrations) -> bool:
    """Whether the text makes one app, and nothing but what ``found`` understood can give it tools."""
    return _AppUse(found).is_plain()


class _AppUse:
    def __init__(self, found: Registrations) -> None:
        self._tree: SourceTree = found.tree
        self._places = found.places
        self._makers = _MAKERS | _renamed_makers(found.tree)
        self._made = [call for call in self._tree.calls if last_name(call.func) in self._makers]
        self._names = {last_name(place.value) for place in found.places if isinstance(place, ast.Attribute)}

    def is_plain(self) -> bool:
        if len(self._made) != 1 or not self._is_plainly_made(self._made[0]):
            return False
        self._follow()
        return (
            "" not in self._names
            and all(self._comes_from_here(name) for name in self._names)
            and all(self._is_harmless(node) for node in self._tree.nodes if self._is_app(node))
        )

    def _is_plainly_made(self, call: ast.Call) -> bool:
        options = {keyword.arg for keyword in call.keywords}
        return options <= _MAKER_OPTIONS and isinstance(self._tree.parents[call], ast.Assign | ast.AnnAssign)

    def _follow(self) -> None:
        """Learn every name of the app: what it is assigned to, and the parameters it is given as."""
        known = -1
        while known != len(self._names):
            known = len(self._names)
            for node in self._tree.nodes:
                if isinstance(node, ast.Assign | ast.AnnAssign) and node.value and self._gives_app(node.value):
                    self._names |= {last_name(target) for target in _targets(node)}
                elif isinstance(node, ast.Call):
                    taken = {self._taken(node, value) for value in _values(node) if self._is_app(value)}
                    self._names |= {name for name in taken if name is not None}

    def _is_app(self, node: ast.AST) -> bool:
        loaded = isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load)
        return loaded and last_name(node) in self._names

    def _gives_app(self, value: ast.expr) -> bool:
        return value in self._made or self._is_app(value)

    def _comes_from_here(self, name: str) -> bool:
        """Whether a name is the app of this text wherever it is set, and is no import."""
        named = [node for node in self._tree.nodes if last_name(node) == name]
        stores = [node for node in named if isinstance(getattr(node, "ctx", None), ast.Store)]
        is_parameter = any(isinstance(node, ast.arg) and node.arg == name for node in self._tree.nodes)
        return (bool(stores) or is_parameter) and all(self._is_app_stored(store) for store in stores)

    def _is_app_stored(self, store: ast.AST) -> bool:
        around = self._tree.parents[store]
        return (
            isinstance(around, ast.Assign | ast.AnnAssign)
            and around.value is not None
            and self._gives_app(around.value)
        )

    def _is_harmless(self, node: ast.AST) -> bool:
        """Whether a mention of the app gives it no tools that the text does not show."""
        around = self._tree.parents[node]
        if isinstance(around, ast.Attribute):
            return around.attr in _HARMLESS or around in self._places or last_name(around) in self._names
        if isinstance(around, ast.Assign | ast.AnnAssign):
            return "" not in {last_name(target) for target in _targets(around)}
        call = self._tree.parents[around] if isinstance(around, ast.keyword) else around
        return isinstance(call, ast.Call) and self._taken(call, node) is not None

    def _taken(self, call: ast.Call, value: ast.AST) -> str | None:
        """The parameter by which a function or class of this text takes a value; None where that can't be said."""
        function, is_method = self._called(call)
        if function is None:
            return None
        for keyword in call.keywords:
            if keyword.value is value:
                return keyword.arg
        parameters = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
        place = next((n for n, argument in enumerate(call.args) if argument is value), len(parameters)) + is_method
        return parameters[place] if place < len(parameters) else None

    def _called(self, call: ast.Call) -> tuple[Function | None, bool]:
        """The one function of this text that a call by name means, and whether it has a ``self`` before the rest."""
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        classes = [c for c in self._tree.classes if c.name == name and not c.bases and not c.decorator_list]
        inits = [f for f in self._tree.functions if f.name == "__init__" and self._tree.parents[f] in classes]
        functions = [
            f
            for f in self._tree.functions
            if f.name == name and isinstance(self._tree.parents[f], ast.Module) and not f.decorator_list
        ]
        found = [*inits, *functions]
        return (found[0], bool(inits)) if len(found) == 1 else (None, False)


def _renamed_makers(tree: SourceTree) -> set[str]:
    """Other names of the makers: ``from fastmcp import FastMCP as Server``, ``class Server(FastMCP)``."""
    imported = [name for node in tree.nodes if isinstance(node, ast.ImportFrom) for name in node.names]
    renamed = {name.asname for name in imported if name.name in _MAKERS and name.asname}
    return renamed | {c.name for c in tree.classes if any(last_name(base) in _MAKERS | renamed for base in c.bases)}


def _targets(node: ast.Assign | ast.AnnAssign) -> list[ast.expr]:
    return node.targets if isinstance(node, ast.Assign) else [node.target]


def _values(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords)]
