"""Tavily Search: POST /search."""

from __future__ import annotations

from typing import Any

from hits import Hit

from websearch import WebSearch, page


class Tavily(WebSearch):
    """The backend ``tavily``."""

    name = "tavily"
    url = "https://api.tavily.com"
    key_variable = "TAVILY_API_KEY"

    async def ask(self, query: str, top_k: int) -> Any:
        return await self.service.post(f"{self.base_url}/search", {"max_results": top_k, **self.extra, "query": query})

    def hits(self, answer: Any) -> list[Hit]:
        return [page(r.get("url"), r.get("content"), n, r.get("score")) for n, r in enumerate(answer["results"], 1)]
