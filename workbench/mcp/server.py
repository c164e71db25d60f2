"""One server: started, listened to, called, ended. ``ServerHub`` holds one of these per alias."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from workbench import __version__
from workbench.engine.events import (
    Emit,
    ServerExited,
    ServerFailed,
    ServerOutput,
    ServerReady,
    ServerStarting,
)
from workbench.engine.ports import Answering, Call, CallResult, ServerGone, ServerStartFailed, Timing, ToolFailed
from workbench.mcp import failures
from workbench.mcp.framing import decode, encode
from workbench.mcp.patience import Patience
from workbench.mcp.peer import Peer
from workbench.mcp.questions import Questions
from workbench.mcp.results import (
    ToolReportedError,
    declare,
    own_words,
    prompt_result,
    tool_result,
    wraps_results,
)
from workbench.mcp.rpc import Answer, Connection, ConnectionLost, NoJsonForm, RpcError
from workbench.pipeline.declaration import ServerDeclaration

_PROTOCOL = "2025-11-25"
_GRACE_SECONDS = 2.0
_SHORT_GRACE_SECONDS = 0.3
_LAST_WORDS_SECONDS = 1.0
_SHUTDOWN_SECONDS = 10.0
_SHUTS_DOWN = "vllm_shutdown"
"""How the name of a tool ends that frees a model's memory."""

Phase = Literal["idle", "starting", "ready", "failed", "exited"]


class ServerStatus(Struct, frozen=True):
    """A server at one moment. ``since`` is when its phase began (Unix seconds)."""

    alias: str
    phase: Phase = "idle"
    since: float = 0.0
    pid: int | None = None
    code: int | None = None
    message: str = ""
    stderr: tuple[str, ...] = ()


class Limits(Struct, frozen=True):
    """Seconds after which a start or a call is given up; ``None`` waits for ever."""

    start: float | None = None
    call: float | None = None


class Server:
    """A server from its start to its end. It is started once; a restart makes a new one."""

    def __init__(self, alias: str, peer: Peer, answering: Answering, emit: Emit, limits: Limits) -> None:
        self._alias = alias
        self._peer = peer
        self._emit = emit
        self._limits = replace(limits, start=limits.start or peer.start_timeout)
        self._patience = Patience(limits.call)
        self._questions = Questions(alias, peer.roots, answering, emit, self._patience)
        self._connection = Connection(alias, emit, self._questions.respond)
        self._is_reached = False
        self._wrapped: set[str] = set()
        self._ending = False
        self._was_called = False
        self._status = ServerStatus(alias)
        self._ready: asyncio.Future[ServerDeclaration] = asyncio.get_running_loop().create_future()
        self._ready.add_done_callback(lambda ready: ready.cancelled() or ready.exception())
        self._enter("starting")
        emit(ServerStarting(server=alias, command=peer.command, folder=peer.folder))
        self._life = asyncio.get_running_loop().create_task(self._live())

    @property
    def status(self) -> ServerStatus:
        """The server at this moment."""
        return replace(self._status, stderr=tuple(self._connection.stderr))

    async def declaration(self) -> ServerDeclaration:
        """What it offers, once it is ready. Raises ``ServerStartFailed``."""
        return await asyncio.shield(self._ready)

    async def call(self, call: Call) -> CallResult:
        """Run one call. Raises ``ToolFailed``, ``ServerGone``, ``ServerStartFailed``."""
        asked = time.time()
        await self.declaration()
        self._was_called = True
        try:
            async with self._patience.for_a_call():
                return await self._call(call, asked)
        except TimeoutError as error:
            raise self._failed(call, f"no answer within {self._limits.call:g} s") from error
        except (ToolReportedError, RpcError) as error:
            raise self._failed(call, own_words(str(error))) from error
        except NoJsonForm as error:
            raise self._failed(call, f"an argument has no JSON form: {error}") from error
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise self._failed(call, f"its answer is no MCP result ({type(error).__name__}: {error})") from error
        except ConnectionLost as error:
            await asyncio.wait({self._life})
            reason = self._connection.why_lost or self._peer.ending(self._status.code)
            message = failures.gone(self._alias, reason, self.status.stderr, call.tool)
            raise ServerGone(message, alias=self._alias, tool=call.tool) from error
        finally:
            self._questions.withdraw(call.visit if self._connection.busy else None)

    async def stop(self) -> None:
        """End it, whatever it is doing. Nothing of it is left afterwards."""
        if not self._ending:
            await self._shut_models_down()
            self._life.cancel()
        await asyncio.wait({self._life})
        self._refuse(f"server {self._alias!r} was stopped while it started", report=False)

    async def _shut_models_down(self) -> None:
        """Let a server that holds a model free it: the dialect calls its tool for that at the end."""
        if not self._was_called or self._status.phase != "ready" or self._connection.busy:
            return
        for name in (await self.declaration()).tools:
            if name.endswith(_SHUTS_DOWN):
                try:
                    async with asyncio.timeout(_SHUTDOWN_SECONDS):
                        answer = await self._connection.request("tools/call", {"name": name, "arguments": {}})
                    tool_result(answer.result, wrapped=False)
                except (ConnectionLost, RpcError, TimeoutError, ToolReportedError, ValueError) as error:
                    text = f"{name} failed at the end: {own_words(str(error)) or type(error).__name__}"
                    self._emit(ServerOutput(server=self._alias, stream="stderr", text=text))

    # ---- its life

    async def _live(self) -> None:
        try:
            await self._start()
            await self._until_it_ends()
        finally:
            self._ending = True
            await self._clean_up()

    async def _start(self) -> None:
        begun = time.monotonic()
        try:
            async with asyncio.timeout(self._limits.start):
                declaration = await self._connect()
        except TimeoutError:
            self._start_failed(f"not ready within {self._limits.start:g} s")
        except ConnectionLost:
            self._start_failed(await self._why_lost())
        except (OSError, RpcError) as error:  # no such command, or an error as answer
            self._start_failed(str(error) or repr(error))
        except Exception as error:
            self._start_failed(f"what it answers is no MCP ({type(error).__name__}: {error})")
        else:
            self._enter("ready", pid=self._peer.pid)
            seconds, tools = time.monotonic() - begun, tuple(declaration.tools)
            self._emit(ServerReady(server=self._alias, seconds=seconds, pid=self._peer.pid, tools=tools))
            self._ready.set_result(declaration)

    async def _connect(self) -> ServerDeclaration:
        wire = await self._peer.reach(self._connection)
        self._is_reached = True
        self._enter("starting", pid=self._peer.pid)
        connection = self._connection
        await connection.open(wire)
        about = {
            "protocolVersion": _PROTOCOL,
            "capabilities": self._questions.capabilities(),
            "clientInfo": {"name": "ragwb", "version": __version__},
        }
        offers = decode((await connection.request("initialize", about)).result).get("capabilities") or {}
        await connection.notify("notifications/initialized")
        tools = await self._list("tools") if "tools" in offers else []
        prompts = await self._list("prompts") if "prompts" in offers else []
        self._wrapped = {tool["name"] for tool in tools if wraps_results(tool)}
        return declare(self._alias, tools, prompts)

    async def _list(self, what: str) -> list[Mapping[str, Any]]:
        """All pages of a list. Raises ``ValueError`` for pages that go in a circle."""
        found: list[Mapping[str, Any]] = []
        cursor, seen = None, set()
        while True:
            answer = await self._open.request(f"{what}/list", {"cursor": cursor} if cursor else {})
            page = decode(answer.result)
            found += page.get(what) or []
            cursor = page.get("nextCursor")
            if not cursor:
                return found
            if cursor in seen:
                raise ValueError(f"the pages of {what}/list go in a circle, at {cursor!r:.100}")
            seen.add(cursor)

    async def _until_it_ends(self) -> None:
        """Watch it; a server that only closes its stdout is as good as ended."""
        if self._status.phase != "ready":
            return
        ends = [
            asyncio.ensure_future(self._peer.exit_code()),
            asyncio.ensure_future(self._connection.lost.wait()),
        ]
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for waiting in ends:
                waiting.cancel()

    async def _clean_up(self) -> None:
        """The end of every server: the process ended, its last words heard, the wire closed."""
        if not self._is_reached:
            self._enter("failed" if self._status.phase == "failed" else "exited")
            return
        patient = self._status.phase == "ready" and not self._connection.busy
        await self._connection.finish()
        code = await self._peer.end(_GRACE_SECONDS if patient else _SHORT_GRACE_SECONDS)
        await self._connection.drain(_LAST_WORDS_SECONDS)
        await self._connection.close()
        if self._status.phase != "failed":
            self._enter("exited", code=code)
        self._emit(ServerExited(server=self._alias, code=code))

    def _start_failed(self, reason: str) -> None:
        self._refuse(self._peer.start_failed(self._alias, reason, self.status.stderr))

    def _refuse(self, message: str, *, report: bool = True) -> None:
        if self._ready.done():
            return
        self._enter("failed" if report else self._status.phase, message=message)
        if report:
            self._emit(ServerFailed(server=self._alias, message=message))
        self._ready.set_exception(ServerStartFailed(message, alias=self._alias))

    async def _why_lost(self) -> str:
        """Why a server that was starting is gone, with its last words heard."""
        if self._connection.why_lost:
            return self._connection.why_lost
        code = await self._peer.exit_code(_LAST_WORDS_SECONDS)
        if code is not None:
            await self._connection.drain(_LAST_WORDS_SECONDS)
        return self._peer.ending(code)

    # ---- calls

    async def _call(self, call: Call, asked: float) -> CallResult:
        begun = time.time()
        meta: dict[str, Any] = {} if call.items is None else {"items": list(call.items)}
        if call.item_lists is not None:
            meta["item_lists"] = list(call.item_lists)
        if call.kind == "prompt":
            arguments, meta["encoded"] = _as_text(call.arguments)
            answer = await self._ask("prompts/get", call, arguments, meta)
            result = prompt_result(answer.result)
        else:
            answer = await self._ask("tools/call", call, dict(call.arguments), meta)
            result = tool_result(answer.result, wrapped=call.tool in self._wrapped)
        served = max(0.0, answer.came - answer.written)
        spent = time.time() - begun
        return replace(result, timing=Timing(begun - asked, served, max(0.0, spent - served)))

    async def _ask(self, method: str, call: Call, arguments: Any, meta: dict[str, Any]) -> Answer:
        params = {"name": call.tool, "arguments": arguments, "_meta": meta}
        return await self._open.request(method, params, visit=call.visit, on_progress=call.on_progress)

    @property
    def _open(self) -> Connection:
        if self._status.phase in ("exited", "failed"):
            raise ConnectionLost
        return self._connection

    def _failed(self, call: Call, reason: str) -> ToolFailed:
        return ToolFailed(f"{call.alias}.{call.tool} failed: {reason}", alias=call.alias, tool=call.tool)

    def _enter(self, phase: Phase, **changes: Any) -> None:
        since = self._status.since if phase == self._status.phase else time.time()
        self._status = replace(self._status, phase=phase, since=since, **changes)


def _as_text(arguments: Mapping[str, Any]) -> tuple[dict[str, str], list[str]]:
    """A prompt takes text only: text goes as it is, everything else as JSON; with the names of the latter."""
    encoded = [name for name, value in arguments.items() if not isinstance(value, str)]
    try:
        texts = {name: encode(value).decode() if name in encoded else value for name, value in arguments.items()}
    except (TypeError, ValueError) as error:
        raise NoJsonForm(str(error)) from error
    return texts, encoded
