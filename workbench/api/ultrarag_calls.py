"""UltraRAG's Python API: ``initialize``, ``ToolCall`` and ``PipelineCall``, for scripts that were written for it.

Servers stay up from one call to the next, on a loop in the background, and are stopped when the program ends. What
they write to stderr is shown there, from ``log_level`` on. A program that calls them has decided that they may run.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import sys
from collections.abc import Coroutine, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from workbench.api.background import BackgroundLoop
from workbench.api.finished_run import StepFailed
from workbench.api.sessions import opened
from workbench.api.wiring import Wiring
from workbench.engine.events import Event, ServerOutput
from workbench.engine.ports import Call
from workbench.engine.recording import recorded_result
from workbench.engine.visible import visible
from workbench.pipeline.binding import interface_of
from workbench.pipeline.description import completed
from workbench.pipeline.environment import Environment
from workbench.pipeline.model import FromParameter
from workbench.pipeline.named import named_pipeline
from workbench.pipeline.parameters import ParameterValue
from workbench.pipeline.prepare import prepare
from workbench.pipeline.project import ServerNotFound, ServerSource, find_server
from workbench.record.memory_file import plain

if TYPE_CHECKING:
    from workbench.mcp.hub import ServerHub


class _Servers(Struct, frozen=True):
    sources: Mapping[str, ServerSource]
    hub: ServerHub


_initialised: _Servers | None = None


def initialize(servers: Sequence[str], server_root: str | Path, log_level: str = "info") -> None:
    """Make these servers callable by ``ToolCall``; each is started when it is first called.

    A name is a folder below ``server_root`` that holds ``src/<name>.py``, in the current folder or among what ragwb
    ships. Servers of an earlier call are stopped. Raises ``ValueError`` for a server that is not there.
    """
    global _initialised  # noqa: PLW0603 (the reference keeps it so, and its scripts hand nothing on)
    found = {name: _source(name, Path(server_root), log_level) for name in servers}
    before, _initialised = _initialised, None
    if before is not None:
        _loop().run(before.hub.close())
    _initialised = _loop().run(_begun(found))


async def _begun(sources: Mapping[str, ServerSource]) -> _Servers:
    from workbench.mcp.hub import ServerHub

    return _Servers(sources, ServerHub(sources, _show))


def _source(name: str, root: Path, log_level: str) -> ServerSource:
    try:
        source = find_server(name, str(root / name), Path.cwd())
    except ServerNotFound:
        raise ValueError(f"Server path {root / name / 'src' / f'{name}.py'} does not exist!") from None
    return replace(source, env={**source.env, "log_level": log_level})


class _Tool:
    """One tool of one server, to be called as a function."""

    def __init__(self, server: str, tool: str) -> None:
        self._server, self._tool = server, tool

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Call it; returns what it gave, or a task that will, where an event loop is running.

        Raises ``ValueError`` for arguments that are too many, unknown or missing; ``ToolFailed``, ``ServerGone``,
        ``ServerStartFailed``.
        """
        assert _initialised is not None, "ToolCall gives no tool before that"
        return _now_or_as_a_task(self._called(_initialised, arguments, named))

    async def _called(self, servers: _Servers, given: Sequence[Any], named: Mapping[str, Any]) -> Any:
        source = servers.sources[self._server]
        declaration, _ = completed(await servers.hub.declaration(self._server), source.description_file)
        tool = declaration.tools.get(self._tool)
        if tool is None or tool.kind != "tool":
            raise ValueError(f"[UltraRAG Error] Tool {self._tool} not found in server {self._server} configuration!")
        parameters = _parameters(source)
        inputs = interface_of(tool, parameters, {}).inputs
        values = {
            name: parameters[spec.name].value if isinstance(spec, FromParameter) and spec.name in parameters else None
            for name, spec in inputs.items()
        }
        if len(given) > len(values):
            raise ValueError(f"[UltraRAG Error] Expected at most {len(values)} positional args, got {len(given)}")
        values.update(zip(values, given, strict=False))
        for name, value in named.items():
            if name not in values:
                raise ValueError(f"[UltraRAG Error] Unexpected keyword arg: {name!r}")
            values[name] = value
        may_miss = {argument.name for argument in tool.arguments if not argument.required}
        missing = [name for name, value in values.items() if value is None and name not in may_miss]
        if missing:
            raise ValueError(f"[UltraRAG Error] Missing value for key(s): {missing}")
        sent = {name: value for name, value in values.items() if value is not None}
        return (await servers.hub.call(Call(self._server, self._tool, "tool", sent, visit=0))).value


class _Server:
    """One server: its attributes are its tools."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, tool: str) -> _Tool:
        return _Tool(self._name, tool)


class _ToolCall:
    """``ToolCall``: its attributes are the servers that were initialised."""

    def __getattr__(self, server: str) -> _Server:
        if _initialised is None or server not in _initialised.sources:
            raise AttributeError(f"Server {server} has not been initialized!")
        return _Server(server)


ToolCall = _ToolCall()


def PipelineCall(pipeline_file: str | Path, parameter_file: str | Path | None = None, log_level: str = "error") -> Any:
    """Run a pipeline to its end; returns its results, or a task that will, where an event loop is running.

    These are ``{"final_result": what the last step returned, "all_results": the entries of the memory file}``. Raises
    ``PipelineError``, ``ServerStartFailed``, ``StepFailed``.
    """
    return _now_or_as_a_task(_run(Path(pipeline_file), parameter_file, log_level))


async def _run(pipeline: Path, parameter_file: str | Path | None, log_level: str) -> dict[str, Any]:
    file, _ = named_pipeline(pipeline)
    prepared = prepare(file, param_file=str(parameter_file) if parameter_file is not None else None)
    wiring = Wiring(prepared, keeps_session=False, env={"log_level": log_level})
    async with opened(wiring, _show) as debugger:
        stop = await debugger.run("continue")
        if stop.reason != "finished":
            raise StepFailed(f"step {stop.step} failed: {stop.why}")
        last = debugger.visits[-1] if debugger.visits else None
        result = recorded_result(last, debugger.bindings.known[last.step]).value if last is not None else None
        memory = debugger.state.memory
    entries = await asyncio.to_thread(_entries, memory) if memory is not None else []
    return {"final_result": plain(result), "all_results": entries}


def _entries(memory: str) -> Any:
    return json.loads(Path(memory).read_text(encoding="utf-8"))


def _now_or_as_a_task(work: Coroutine[Any, Any, Any]) -> Any:
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return _loop().run(work)
    return loop.create_task(_loop().awaited(work))


@cache
def _loop() -> BackgroundLoop:
    """The loop of all calls; when the program ends, the servers do."""
    loop = BackgroundLoop()

    def close() -> None:
        if _initialised is not None:
            loop.run(_initialised.hub.close())
        loop.close()

    atexit.register(close)
    return loop


def _parameters(source: ServerSource) -> dict[str, ParameterValue]:
    """The server's own parameters as its file has them now."""
    if source.parameter_file is None:
        return {}
    import yaml

    written = yaml.safe_load(source.parameter_file.read_text(encoding="utf-8")) or {}
    values, _ = Environment(source.cwd).expanded(written)
    return {name: ParameterValue(value, str(source.parameter_file)) for name, value in values.items()}


def _show(event: Event) -> None:
    if isinstance(event, ServerOutput):
        print(visible(event.text), file=sys.stderr, flush=True)
