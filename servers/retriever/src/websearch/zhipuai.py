"""Zhipu AI (BigModel): POST /web_search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hits import Hit

from websearch import WebSearch, page

_LONGEST_QUERY = 70
"""Characters that the service takes."""
_MOST_RESULTS = 50


class ZhipuAI(WebSearch):
    """The backend ``zhipuai``; ``search_engine`` among its configs is search_std, search_pro ..."""

    name = "zhipuai"
    url = "https://open.bigmodel.cn/api/paas/v4"
    key_variable = "ZHIPUAI_API_KEY"

    async def search(self, queries: Sequence[str], top_k: int) -> list[list[Hit]]:
        if top_k > _MOST_RESULTS:
            self.warnings.append(f"zhipuai gives at most {_MOST_RESULTS} pages, not the {top_k} of retriever.top_k")
        return await super().search(queries, top_k)

    async def ask(self, query: str, top_k: int) -> Any:
        if len(query) > _LONGEST_QUERY:
            self.warnings.append(
                f"zhipuai takes {_LONGEST_QUERY} characters: of {query[:30]!r}... ({len(query)}) the first were sent"
            )
        body = {
            "search_engine": "search_std",
            "count": min(top_k, _MOST_RESULTS),
            **self.extra,
            "search_query": query[:_LONGEST_QUERY],
        }
        return await self.service.post(f"{self.base_url}/web_search", body)

    def hits(self, answer: Any) -> list[Hit]:
        return [page(r.get("link"), r.get("content"), n) for n, r in enumerate(answer["search_result"], 1)]
