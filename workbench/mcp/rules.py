"""How servers are answered: by the user where there is one, else by the rules of the configuration."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from workbench.engine.ports import Answering, Asked, AskedKind, Reply


class Rules(Struct, frozen=True):
    """Answers by rule; see ``elicitation`` and ``sampling`` in ``pipeline/config.py``.

    ``user`` is whom `ask` means; ``model`` gives the answer of the pipeline's own model, where it has one.
    """

    elicitation: Literal["ask", "refuse", "defaults"] = "ask"
    sampling: Literal["ask", "refuse", "pipeline"] = "ask"
    user: Answering | None = None
    model: Callable[[Asked], Awaitable[Reply]] | None = None
    ours: frozenset[str] = frozenset()
    """The servers that ragwb ships: a model's answer to these comes from the pipeline's own, wherever it has one."""

    @property
    def kinds(self) -> frozenset[AskedKind]:
        """A form may always be asked for, since to decline is an answer; a model only where somebody may answer."""
        kinds: set[AskedKind] = {"elicitation"}
        if self._asks_user("sampling") or (self.model is not None and (self.sampling == "pipeline" or self.ours)):
            kinds.add("sampling")
        return frozenset(kinds)

    async def answer(self, asked: Asked) -> Reply:
        if asked.kind == "sampling" and asked.server in self.ours and self.model is not None:
            return await self.model(asked)
        if self.user is not None and self._asks_user(asked.kind):
            by_model = partial(self.model, asked) if self.model is not None and asked.kind == "sampling" else None
            return await self.user.answer(replace(asked, by_model=by_model))
        return await self._sampled(asked) if asked.kind == "sampling" else self._filled_in(asked)

    def _asks_user(self, kind: AskedKind) -> bool:
        rule = self.sampling if kind == "sampling" else self.elicitation
        return rule == "ask" and self.user is not None and kind in self.user.kinds

    async def _sampled(self, asked: Asked) -> Reply:
        if self.sampling == "pipeline" and self.model is not None:
            return await self.model(asked)
        if self.sampling == "refuse":
            return Reply("decline", reason="sampling is refused: `sampling: refuse` is configured")
        reason = "sampling is refused: the pipeline has no model, or .ragwb.yaml does not say `sampling: pipeline`"
        return Reply("decline", reason=reason)

    def _filled_in(self, asked: Asked) -> Reply:
        if self.elicitation == "defaults":
            return _with_defaults(asked.request.get("requestedSchema"))
        if self.elicitation == "refuse":
            return Reply("decline", reason="forms are refused: `elicitation: refuse` is configured")
        reason = "nobody is asked here; `elicitation: defaults` in .ragwb.yaml answers such forms with their defaults"
        return Reply("decline", reason=reason)


def _with_defaults(schema: Any) -> Reply:
    """A form filled in with its defaults; declined where a required field has none."""
    fields = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(fields, Mapping):
        return Reply("decline", reason="the form has no schema that could be read")
    values = {
        name: about["default"] for name, about in fields.items() if isinstance(about, Mapping) and "default" in about
    }
    required = schema.get("required")
    lacking = [str(name) for name in required if name not in values] if isinstance(required, list) else []
    if lacking:
        return Reply("decline", reason=f"required fields without a default: {', '.join(lacking)}")
    return Reply("accept", values)
