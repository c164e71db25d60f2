"""Passages from the web: a registry of services, and what each is to the retriever."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from fastmcp.exceptions import ToolError
from hits import Hit

from workbench.mcp.backends import Backends
from workbench.mcp.json_http import JsonService, quoted

SERVICES = Backends(
    "retriever.websearch_backend",
    {
        "tavily": "websearch.tavily:Tavily",
        "exa": "websearch.exa:Exa",
        "zhipuai": "websearch.zhipuai:ZhipuAI",
        "serply": "websearch.serply:Serply",
    },
)


class WebSearch:
    """One service. A backend says where it is, how its key goes along, how to ask it, and where its results are.

    ``configs``: api_key, base_url, retries, base_delay, timeout; what else is there goes into each request.
    """

    name: ClassVar[str]
    url: ClassVar[str]
    key_variable: ClassVar[str]
    _OURS = frozenset({"api_key", "base_url", "retries", "base_delay", "timeout"})

    def __init__(self, configs: Mapping[str, Any], threads: int) -> None:
        """``threads`` is how many requests go at once. Raises ``ToolError`` without a key."""
        setting = f"retriever.websearch_backend_configs.{self.name}.api_key"
        key = str(configs.get("api_key") or os.environ.get(self.key_variable) or "")
        if not key:
            raise ToolError(
                f"web search by {self.name} needs a key: set the environment variable {self.key_variable} or {setting}"
            )
        self.base_url = str(configs.get("base_url") or self.url).rstrip("/")
        self.extra = {name: value for name, value in configs.items() if name not in self._OURS and value is not None}
        self.service = JsonService.of(
            f"web search by {self.name}",
            f"the environment variable {self.key_variable} or {setting}",
            self.headers(key),
            {**configs, "concurrency": threads},
            concurrency=1,
            timeout=30,
        )
        self.warnings: list[str] = []
        """What was done otherwise than asked for."""

    async def search(self, queries: Sequence[str], top_k: int) -> list[list[Hit]]:
        """Queries x pages, best first. Raises ``ToolError`` if a query got no answer."""
        return list(
            await asyncio.gather(*(self._one(query, top_k) if query.strip() else _nothing() for query in queries))
        )

    async def _one(self, query: str, top_k: int) -> list[Hit]:
        answer = await self.ask(query, top_k)
        try:
            return [hit for hit in self.hits(answer) if hit.text.strip()][:top_k]
        except (KeyError, TypeError, AttributeError) as error:
            raise ToolError(f"{self.service.name}: an answer without results: {quoted(str(answer))}") from error

    def headers(self, key: str) -> dict[str, str]:
        """How the key goes along."""
        return {"Authorization": f"Bearer {key}"}

    async def ask(self, query: str, top_k: int) -> Any:
        """The service's answer to one query."""
        raise NotImplementedError

    def hits(self, answer: Any) -> list[Hit]:
        """The pages in an answer: the address as id, the text as passage."""
        raise NotImplementedError


def page(url: Any, text: Any, rank: int, score: Any = None) -> Hit:
    """One result; without a score of the service's own, the reciprocal of its rank."""
    return Hit(str(url or ""), str(text or "").strip(), float(score) if score is not None else 1.0 / rank)


async def _nothing() -> list[Hit]:
    return []
