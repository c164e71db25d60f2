"""How servers are answered where no user is asked: by the rules of the configuration."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from workbench.engine.ports import Asked, AskedKind, Reply


@dataclass(frozen=True)
class Rules:
    """Answers by rule; see ``elicitation`` and ``sampling`` in ``pipeline/config.py``.

    ``sample`` gives a model's answer to a sampling request; without it they are refused.
    """

    elicitation: Literal["refuse", "defaults"] = "refuse"
    sample: Callable[[Asked], Awaitable[Reply]] | None = None

    @property
    def kinds(self) -> frozenset[AskedKind]:
        """A form may always be asked for, since to decline is an answer; a model only where there is one."""
        kinds: set[AskedKind] = {"elicitation"}
        if self.sample is not None:
            kinds.add("sampling")
        return frozenset(kinds)

    async def answer(self, asked: Asked) -> Reply:
        if asked.kind == "sampling":
            if self.sample is None:
                reason = (
                    "sampling is refused: the pipeline has no model, or .ragwb.yaml does not say `sampling: pipeline`"
                )
                return Reply("decline", reason=reason)
            return await self.sample(asked)
        if self.elicitation == "defaults":
            return _with_defaults(asked.request.get("requestedSchema"))
        reason = (
            "nobody is asked here; `elicitation: defaults` in .ragwb.yaml answers such forms with their defaults "
            "(`elicitation: refuse` is the default)"
        )
        return Reply("decline", reason=reason)


def _with_defaults(schema: Any) -> Reply:
    """A form filled in with its defaults; declined where a required field has none."""
    fields = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(fields, Mapping):
        return Reply("decline", reason="the form has no schema that could be read")
    values = {
        name: about["default"] for name, about in fields.items() if isinstance(about, Mapping) and "default" in about
    }
    lacking = [str(name) for name in schema.get("required") or () if name not in values]
    if lacking:
        return Reply("decline", reason=f"required fields without a default: {', '.join(lacking)}")
    return Reply("accept", values)
