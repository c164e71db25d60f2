"""What a server may ask of us, and how it is answered: ping, roots, forms for the user, a model's answer."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from workbench.engine.events import Emit, ServerAnswered, ServerAsked
from workbench.engine.ports import Answering, Asked, AskedKind, Reply
from workbench.mcp.patience import Patience
from workbench.mcp.rpc import METHOD_NOT_FOUND, RpcError

_KINDS: dict[str, AskedKind] = {"elicitation/create": "elicitation", "sampling/createMessage": "sampling"}
_REFUSED = -1


class Questions(Struct):
    """The questions of one server. ``roots`` are the folders it may know of; without any, it is told of none.

    ``patience`` is that with its calls, which does not wear out while it waits for an answer.
    """

    alias: str
    roots: list[dict[str, str]]
    answering: Answering
    emit: Emit
    patience: Patience
    _open: dict[int, tuple[asyncio.Future[Reply], int | None]] = field(default_factory=dict)
    """Number -> the answer that is being found, and the visit that it is about."""
    _numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    def capabilities(self) -> dict[str, Any]:
        """What servers are told that we answer: nothing else."""
        announced: dict[str, Any] = {"roots": {}} if self.roots else {}
        if "elicitation" in self.answering.kinds:
            announced["elicitation"] = {"form": {}}
        if "sampling" in self.answering.kinds:
            announced["sampling"] = {}
        return announced

    async def respond(self, method: str, params: Any, visit: int | None) -> Any:
        """The result for one request. Raises ``RpcError``."""
        if method == "ping":
            return {}
        if method == "roots/list" and self.roots:
            return {"roots": self.roots}
        if method not in _KINDS:
            raise RpcError(METHOD_NOT_FOUND, f"ragwb does not support {method}")
        request = params if isinstance(params, Mapping) else {}
        return await self._ask(Asked(self.alias, _KINDS[method], _message(request), request, visit))

    def withdraw(self, visit: int | None = None) -> None:
        """Cancel what was asked during a visit, or everything: the call is over, and nobody needs the answer.

        The server is told so, since not every server drops its questions with the call.
        """
        for answering, of_visit in self._open.values():
            if visit is None or visit == of_visit:
                answering.cancel()

    async def _ask(self, asked: Asked) -> Any:
        number = next(self._numbers)
        about: dict[str, Any] = {
            "server": self.alias,
            "number": number,
            "kind": asked.kind,
            "visit": asked.visit,
        }
        self.emit(ServerAsked(message=asked.message, request=asked.request, **about))
        reply = Reply("cancel", reason="the server did not wait for an answer")
        try:
            with self.patience.waiting():
                reply = await self._answer_or_withdrawal(asked, number)
        finally:
            self.emit(ServerAnswered(action=reply.action, reason=reply.reason, content=reply.content, **about))
        return _form_result(reply) if asked.kind == "elicitation" else _sampling_result(reply)

    async def _answer_or_withdrawal(self, asked: Asked, number: int) -> Reply:
        answering = asyncio.ensure_future(self._answer(asked))
        self._open[number] = (answering, asked.visit)
        try:
            await asyncio.wait({answering})
        finally:
            del self._open[number]
            answering.cancel()
        if answering.cancelled():
            return Reply("cancel", reason="the call that asked is over")
        return answering.result()

    async def _answer(self, asked: Asked) -> Reply:
        if asked.kind == "elicitation" and asked.request.get("mode", "form") != "form":
            address = asked.request.get("url", "an address")
            return Reply("decline", reason=f"the server wants {address} opened in a browser, which ragwb does not do")
        return await self.answering.answer(asked)


def _message(request: Mapping[str, Any]) -> str:
    """A form's message, or the text of the last message for a model."""
    if isinstance(request.get("message"), str):
        return str(request["message"])
    messages = request.get("messages")
    last = messages[-1] if isinstance(messages, list) and messages else {}
    return text_of(last.get("content") if isinstance(last, Mapping) else None)


def text_of(content: Any) -> str:
    """The text in a message's content, which is one block or a list of them."""
    blocks = content if isinstance(content, list) else [content]
    texts = (block.get("text") for block in blocks if isinstance(block, Mapping))
    return "\n".join(text for text in texts if isinstance(text, str))


def _form_result(reply: Reply) -> dict[str, Any]:
    return {"action": reply.action, **({"content": reply.content} if reply.action == "accept" else {})}


def _sampling_result(reply: Reply) -> dict[str, Any]:
    if reply.action != "accept":
        raise RpcError(_REFUSED, reply.reason or "refused")
    content = {"type": "text", "text": str(reply.content)}
    reason = "maxTokens" if reply.is_cut_off else "endTurn"
    return {"role": "assistant", "content": content, "model": "ragwb", "stopReason": reason}
