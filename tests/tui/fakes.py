"""Tools that run inside the test: quick, and the same in every run."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from workbench.engine.events import Emit, Event, ServerOutput, ServerReady, ServerStarting, WireMessage
from workbench.engine.ports import Answering, Asked, Call, CallResult, Edit, Progress, Timing, ToolFailed
from workbench.engine.timeline import Moment, Timeline
from workbench.engine.visit import Visit
from workbench.mcp.patience import Patience
from workbench.mcp.questions import Questions
from workbench.mcp.rpc import RpcError
from workbench.mcp.rules import Rules
from workbench.pipeline.declaration import Argument as Arg
from workbench.pipeline.declaration import ServerDeclaration, ToolDeclaration
from workbench.pipeline.prepare import Prepared
from workbench.pipeline.project import ServerSource

NOW = 1_760_000_000.0
ITEMS = ["fig", "apple", "kiwi", "date"]


def _tool(annotation: str, *arguments: str, kind: str = "tool") -> Callable[[Any], Any]:
    def mark(function: Any) -> Any:
        function.declared = (annotation, arguments or None, kind)
        return function

    return mark


class Lab:
    """The tools. ``items`` and the rest are set by a test that wants others."""

    def __init__(self) -> None:
        self.items: list[Any] = list(ITEMS)
        self.failures = 0
        self.failed: dict[str, dict[int, str]] = {}
        self.warnings: dict[str, tuple[str, ...]] = {}
        self.hanging = asyncio.Event()
        self.progress: Callable[[Progress], None] = lambda _: None
        self.told: list[Progress] = []
        self.asks: list[tuple[str, Any]] = []
        self.answers: list[Any] = []
        self.respond: Callable[[str, Any], Any] = lambda *_: None
        self.model: Callable[[Asked], Any] | None = None

    @_tool("items->q_ls,gt_ls", "items")
    async def get_items(self, items: list[str]) -> Any:
        return {"q_ls": list(self.items), "gt_ls": [[str(item).upper()] for item in self.items]}

    @_tool("q_ls,top_k->ret_psg", "query_list", "top_k")
    async def search(self, query_list: list[str], top_k: int) -> Any:
        return {"ret_psg": [[f"{query}#{rank}" for rank in range(top_k)] for query in query_list]}

    @_tool("q_ls->q_ls", "q_ls")
    async def extend(self, q_ls: list[str]) -> Any:
        return {"q_ls": [q + "+" for q in q_ls]}

    @_tool("q_ls,long_enough->q_ls", "q_ls", "long_enough")
    async def route_done(self, q_ls: list[str], long_enough: int) -> Any:
        return {"q_ls": [{"data": q, "state": "done" if len(q) >= long_enough else "more"} for q in q_ls]}

    @_tool("q_ls->q_ls", "q_ls")
    async def route_oddly(self, q_ls: list[str]) -> Any:
        return {"q_ls": [{"data": q, "state": "maybe" if q.startswith("k") else "more"} for q in q_ls]}

    @_tool("prompt_ls->ans_ls", "prompt_ls")
    async def generate(self, prompt_ls: list[Any]) -> Any:
        return {"ans_ls": [f"A({prompt['content']['text'].splitlines()[-1]})" for prompt in prompt_ls]}

    @_tool("q_ls,ret_psg->prompt_ls", "q_ls", "ret_psg", kind="prompt")
    async def ask(self, q_ls: list[str], ret_psg: list[Any]) -> Any:
        texts = [f"Passages: {', '.join(found)}\nQuestion: {q}" for q, found in zip(q_ls, ret_psg, strict=True)]
        return [{"role": "user", "content": {"type": "text", "text": text}} for text in texts]

    @_tool("q_ls->tagged_ls", "q_ls")
    async def stumble(self, q_ls: list[str]) -> Any:
        """Fails once, then works."""
        self.failures += 1
        if self.failures == 1:
            raise ValueError("can't read [/] shard \x1b[2J of the index")
        return {"tagged_ls": [q + "!" for q in q_ls]}

    @_tool("q_ls->tagged_ls", "q_ls")
    async def hang(self, q_ls: list[str]) -> Any:
        await self.hanging.wait()
        return {"tagged_ls": q_ls}

    @_tool("q_ls->tagged_ls", "q_ls")
    async def wonder(self, q_ls: list[str]) -> Any:
        """Asks all of its questions at once, and goes on with the answers."""
        self.answers = await asyncio.gather(*(self.respond(*asked) for asked in self.asks))
        return {"tagged_ls": q_ls}

    @_tool("q_ls->tagged_ls", "q_ls")
    async def speak(self, q_ls: list[str]) -> Any:
        """Tells of its progress, then waits."""
        for one in self.told:
            self.progress(one)
        return await self.hang(q_ls)


class FakeTools:
    """The engine's ``Tools`` port over ``Lab``, with the events that real servers would tell."""

    def __init__(
        self, emit: Emit, lab: Lab | None = None, *, user: Answering | None = None, hangs_at_start: bool = False
    ) -> None:
        self.lab = lab or Lab()
        self.calls: list[Call] = []
        self.restarted: list[str] = []
        self.stopped: list[str] = []
        self.is_closed = False
        self._emit = emit
        self._ids = itertools.count(1)
        self._asked_ids = itertools.count(1)
        self._hangs = hangs_at_start
        self._questions = Questions("lab", [], Rules(user=user, model=self.lab.model), emit, Patience(None))

    def start(self, aliases: Iterable[str]) -> None:
        for alias in aliases:
            self._emit(ServerStarting(server=alias, command=("python", "lab.py"), folder="."))
            if self._hangs:
                self._emit(ServerOutput(server=alias, stream="stderr", text="loading index shard 1 of 400"))
            else:
                self._emit(ServerReady(server=alias, seconds=0.8, tools=("get_items",)))

    async def declaration(self, alias: str) -> ServerDeclaration:
        if self._hangs:
            await asyncio.Event().wait()
        return _DECLARATION(alias)

    async def call(self, call: Call) -> CallResult:
        self.calls.append(call)
        number = next(self._ids)
        self.lab.progress = call.on_progress or self.lab.progress
        self.lab.respond = partial(self._respond, call)
        method = "prompts/get" if call.kind == "prompt" else "tools/call"
        params = {"name": call.tool, "arguments": dict(call.arguments)}
        self._wire(call, "sent", number, {"method": method, "params": params}, method)
        try:
            value = await getattr(self.lab, call.tool)(**call.arguments)
        except ValueError as error:
            self._wire(call, "received", number, {"error": {"message": str(error)}})
            raise ToolFailed(f"{call.alias}.{call.tool} failed: {error}", alias=call.alias, tool=call.tool) from error
        finally:
            self._questions.withdraw()
        self._wire(call, "received", number, {"result": value})
        failed, warnings = self.lab.failed.get(call.tool, {}), self.lab.warnings.get(call.tool, ())
        return CallResult(value, timing=Timing(0, 0.24, 0.01), failed=failed, warnings=warnings)

    async def _respond(self, call: Call, method: str, params: Any) -> Any:
        """A question of the server; its numbers are its own."""
        number = next(self._asked_ids)
        self._wire(call, "received", number, {"method": method, "params": params}, method)
        try:
            result = await self._questions.respond(method, params, call.visit)
        except RpcError as error:
            result = str(error)
        self._wire(call, "sent", number, {"result": result})
        return result

    async def restart(self, alias: str) -> None:
        self.restarted.append(alias)

    async def stop(self, alias: str) -> None:
        self.stopped.append(alias)

    async def take(self, sources: Mapping[str, ServerSource]) -> tuple[str, ...]:
        return ()

    async def close(self) -> None:
        self.is_closed = True

    def _wire(self, call: Call, way: Any, number: int, body: Mapping[str, Any], method: str | None = None) -> None:
        line = json.dumps({"jsonrpc": "2.0", "id": number, **body}, default=str).encode()
        at = NOW + number + (0.25 if way == "received" else 0)
        self._emit(
            WireMessage(
                server=call.alias,
                way=way,
                started=at,
                at=at,
                size=len(line),
                line=line,
                method=method,
                id=number,
                visit=call.visit,
            )
        )


def _DECLARATION(alias: str) -> ServerDeclaration:
    tools = {}
    for name, function in vars(Lab).items():
        if hasattr(function, "declared"):
            annotation, arguments, kind = function.declared
            tools[name] = ToolDeclaration(name, kind, tuple(map(Arg, arguments)), annotation=annotation)
    return ServerDeclaration(alias, tools)


class FakeRecord:
    """Keeps visits, and says that it wrote a file."""

    file = None

    def __init__(self) -> None:
        self.kept: list[Visit] = []

    async def finished(self, timeline: Timeline, moment: Moment) -> None:
        self.kept.append(moment.visit)

    def edited(self, edit: Edit, timeline: Timeline) -> None:
        pass

    def went_to(self, timeline: Timeline) -> None:
        pass

    async def heard(self, visit: int | None) -> tuple[Event, ...]:
        return ()

    async def reloaded(self, prepared: Prepared) -> None:
        pass

    async def complete(self, timeline: Timeline) -> str | None:
        return "output/memory_toy_lab_20250101_120000.json"

    async def close(self) -> None:
        pass
