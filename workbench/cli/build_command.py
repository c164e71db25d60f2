"""``ragwb build``: writes what the servers offer and the parameters they need beside the pipeline."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.cli.exits import Exit
from workbench.cli.report import say, say_problems
from workbench.cli.trust import may_start
from workbench.engine.ports import ServerStartFailed
from workbench.mcp.hub import ServerHub
from workbench.pipeline.built import build as compile_files
from workbench.pipeline.built import parameter_file, server_file
from workbench.pipeline.declaration import ServerDeclaration
from workbench.pipeline.prepare import Prepared, prepare
from workbench.pipeline.problems import PipelineError


def build(options: argparse.Namespace) -> int:
    try:
        prepared = prepare(options.file, checks=False)
        if not may_start(prepared, yes=options.yes):
            return Exit.WRONG
        declarations = asyncio.run(_declarations(prepared))
    except PipelineError as error:
        say_problems(error)
        return Exit.WRONG
    except ServerStartFailed as error:
        say(str(error))
        return Exit.NO_SERVER
    built = compile_files(prepared, declarations)
    file = options.file
    for path, content in ((server_file(file), built.servers), (parameter_file(file), built.parameters)):
        _write(path, content)
    checked = prepared.checked_with(declarations)
    for problem in checked.problems:
        say(str(problem))
    return Exit.WRONG if checked.errors else Exit.WELL


async def _declarations(prepared: Prepared) -> dict[str, ServerDeclaration]:
    """What the servers that the pipeline uses say of themselves. Raises ``ServerStartFailed``."""
    hub = ServerHub(prepared.used_sources(), lambda event: None)
    aliases = prepared.pipeline.used_aliases()
    try:
        hub.start(aliases)
        found = await asyncio.gather(*(hub.declaration(alias) for alias in aliases))
    finally:
        await hub.close()
    return dict(zip(aliases, found, strict=True))


def _write(path: Path, content: Mapping[str, Any]) -> None:
    """Write a file, or add to one what it lacks: what stands there, comments included, is kept as it is."""
    from ruamel.yaml import YAML

    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 10_000
    before = yaml.load(path.read_text(encoding="utf-8-sig")) if path.is_file() else None
    if before is None:
        before, added, unknown = dict(content), ["everything"], []
    else:
        added, unknown = _add(before, content, ""), _surplus(before, content, "")
    path.parent.mkdir(parents=True, exist_ok=True)
    if added or not path.is_file():
        with path.open("w", encoding="utf-8") as file:
            yaml.dump(before, file)
    what = "written" if added == ["everything"] else f"added {', '.join(added)}" if added else "nothing to add"
    print(f"{path}: {what}")
    for name in unknown:
        say(f"{path}: `{name}` is kept, but the pipeline does not use it")


def _add(before: Any, content: Mapping[str, Any], prefix: str) -> list[str]:
    """Put into ``before`` what only ``content`` has, two levels deep; returns the names of what was added."""
    added = []
    for key, value in content.items():
        if key not in before or before[key] is None:
            before[key] = value
            added.append(f"{prefix}{key}")
        elif not prefix and isinstance(value, Mapping) and isinstance(before[key], Mapping):
            added += _add(before[key], value, f"{key}.")
    return added


def _surplus(before: Any, content: Mapping[str, Any], prefix: str) -> list[str]:
    found = []
    for key, value in before.items():
        if key not in content:
            found.append(f"{prefix}{key}")
        elif not prefix and isinstance(value, Mapping) and isinstance(content[key], Mapping):
            found += _surplus(value, content[key], f"{key}.")
    return found
