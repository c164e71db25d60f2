"""The syntax tree of a Python text with the way back up: what stands inside what, and under which conditions."""

from __future__ import annotations

import ast
from collections.abc import Iterator

Function = ast.FunctionDef | ast.AsyncFunctionDef


class SourceTree:
    """A module, its nodes, and the parent of each."""

    def __init__(self, module: ast.Module) -> None:
        self.nodes: list[ast.AST] = [module]
        self.parents: dict[ast.AST, ast.AST] = {}
        for node in self.nodes:  # grows on the way
            children = list(ast.iter_child_nodes(node))
            self.parents |= dict.fromkeys(children, node)
            self.nodes += children
        self.functions = [node for node in self.nodes if isinstance(node, Function)]
        self.classes = [node for node in self.nodes if isinstance(node, ast.ClassDef)]
        self.calls = [node for node in self.nodes if isinstance(node, ast.Call)]

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around a node, the innermost first."""
        while node in self.parents:
            node = self.parents[node]
            yield node

    def always_runs(self, node: ast.AST) -> bool:
        """Whether it is a statement of the module itself, also under ``if __name__ == "__main__"``."""
        return all(isinstance(n, ast.Module | ast.Expr | ast.Assign) or _is_main(n) for n in self.above(node))

    def method_around(self, node: ast.AST) -> tuple[Function, ast.ClassDef] | None:
        """The method that a statement belongs to, without a condition or a loop around it, and its class."""
        above = [n for n in self.above(node) if not isinstance(n, ast.Expr)]
        if len(above) > 1 and isinstance(above[0], Function) and isinstance(above[1], ast.ClassDef):
            return (above[0], above[1]) if self.always_runs(above[1]) else None
        return None


def _is_main(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test).replace('"', "'") == "__name__ == '__main__'"


def last_name(node: ast.AST) -> str:
    """``c`` of ``a.b.c``; empty for what is no name."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
