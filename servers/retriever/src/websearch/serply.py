"""Serply: GET /v1/search/q=...&num=..., Google's results with their descriptions."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from hits import Hit

from websearch import WebSearch, page


class Serply(WebSearch):
    """The backend ``serply``."""

    name = "serply"
    url = "https://api.serply.io"
    key_variable = "SERPLY_API_KEY"

    def headers(self, key: str) -> dict[str, str]:
        return {"X-Api-Key": key}

    async def ask(self, query: str, top_k: int) -> Any:
        # The query is part of the path, as the service has it.
        return await self.service.get(
            f"{self.base_url}/v1/search/{urlencode({'q': query, 'num': top_k, **self.extra})}"
        )

    def hits(self, answer: Any) -> list[Hit]:
        return [page(r.get("link"), r.get("description"), n) for n, r in enumerate(answer["results"], 1)]
