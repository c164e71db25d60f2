"""What a Python server offers, read from its text: so that mistakes show before any server is started.

Only what stands there plainly is understood: ``@app.tool(output=...)``, ``@app.prompt``, and
``app.tool(self.method, output=...)``. Whatever else registers tools makes the result incomplete; the running
server's own word always counts more.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from workbench.pipeline import yaml_nodes as nodes
from workbench.pipeline.declaration import Argument, ServerDeclaration, ToolDeclaration, ToolKind
from workbench.pipeline.project import ServerSource

_KINDS: dict[str, ToolKind] = {"tool": "tool", "prompt": "prompt"}
_DYNAMIC = {"add_tool", "add_prompt", "mount", "import_server", "from_openapi", "from_fastapi", "as_proxy"}
_KIT_MODULES = {"ultrarag.server", "workbench.mcp.kit"}
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def read_declaration(source: ServerSource) -> ServerDeclaration | None:
    """The declaration as far as the server's files tell it; None where they tell nothing (or do not parse)."""
    if source.script is None:
        return None
    try:
        tree = ast.parse(source.script.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None
    tools, complete = _tools(tree)
    if not _uses_kit(tree):
        tools = overlaid(tools, described(source.description_file))
    return ServerDeclaration(source.alias, tools, complete and bool(tools), origin=str(source.script))


def described(file: Path | None) -> dict[str, ToolDeclaration]:
    """The tools that a ``server.yaml`` describes: ``tools: {name: {input: {...}, output: [...]}}``."""
    if file is None:
        return {}
    try:
        root = nodes.compose(file.read_text(encoding="utf-8-sig"))
        content = nodes.plain(root) if isinstance(root, yaml.MappingNode) else {}
    except (OSError, UnicodeDecodeError, nodes.YamlError):
        return {}
    found = {}
    for section, kind in (("prompts", _KINDS["prompt"]), ("tools", _KINDS["tool"])):
        entries = content.get(section)
        for name, entry in entries.items() if isinstance(entries, dict) else ():
            if isinstance(entry, dict):
                found[name] = _described_tool(name, kind, entry)
    return found


def _described_tool(name: str, kind: ToolKind, entry: dict[str, Any]) -> ToolDeclaration:
    inputs = {str(k): str(v) for k, v in (entry.get("input") or {}).items()}
    outputs = tuple(str(output) for output in entry.get("output") or ())
    return ToolDeclaration(name, kind, tuple(Argument(argument) for argument in inputs), inputs=inputs, outputs=outputs)


def overlaid(tools: dict[str, ToolDeclaration], descriptions: dict[str, ToolDeclaration]) -> dict[str, ToolDeclaration]:
    """``tools`` with the inputs and outputs of a ``server.yaml`` where a tool has no annotation of its own."""
    result = dict(descriptions)
    for name, tool in tools.items():
        description = descriptions.get(name)
        if description is None or tool.annotation is not None:
            result[name] = tool
        else:
            result[name] = ToolDeclaration(
                name,
                tool.kind,
                tool.arguments,
                inputs=description.inputs,
                outputs=description.outputs,
                description=tool.description,
            )
    return result


def _uses_kit(tree: ast.Module) -> bool:
    return any(isinstance(n, ast.ImportFrom) and n.module in _KIT_MODULES for n in ast.walk(tree))


def _tools(tree: ast.Module) -> tuple[dict[str, ToolDeclaration], bool]:
    functions = {n.name: n for n in ast.walk(tree) if isinstance(n, _Function)}
    decorators = {id(d) for f in functions.values() for d in f.decorator_list}
    found: dict[str, ToolDeclaration] = {}
    complete = True
    for function, kind, call in _decorated(functions.values()):
        declaration = _declaration(function, kind, call)
        found[declaration.name] = declaration
    for call in (n for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)):
        attribute = call.func.attr  # type: ignore[attr-defined]
        if attribute in _DYNAMIC:
            complete = False
        elif attribute in _KINDS and id(call) not in decorators:
            target = functions.get(_last_name(call.args[0])) if call.args else None
            if target is None:
                complete = False
            else:
                declaration = _declaration(target, _KINDS[attribute], call)
                found[declaration.name] = declaration
    return found, complete


def _decorated(functions: Any) -> Iterator[tuple[_Function, ToolKind, ast.Call | None]]:
    for function in functions:
        for decorator in function.decorator_list:
            call = decorator if isinstance(decorator, ast.Call) else None
            target = call.func if call else decorator
            if isinstance(target, ast.Attribute) and target.attr in _KINDS:
                yield function, _KINDS[target.attr], call


def _declaration(function: _Function, kind: ToolKind, call: ast.Call | None) -> ToolDeclaration:
    options = _constants(call) if call else {}
    whole = options.get("whole") or ()
    return ToolDeclaration(
        name=str(options.get("name") or function.name),
        kind=kind,
        arguments=_arguments(function.args),
        annotation=options.get("output"),
        outputs_from=options.get("outputs_from"),
        whole=(whole,) if isinstance(whole, str) else tuple(whole),
        stateful=bool(options.get("stateful", False)),
        description=ast.get_docstring(function) or "",
    )


def _constants(call: ast.Call) -> dict[str, Any]:
    found = {}
    for keyword in call.keywords:
        try:
            found[str(keyword.arg)] = ast.literal_eval(keyword.value)
        except ValueError:
            continue
    return found


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


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
