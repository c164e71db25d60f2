"""Exa: POST /search, with the pages' texts."""

from __future__ import annotations

from typing import Any

from hits import Hit

from websearch import WebSearch, page


class Exa(WebSearch):
    """The backend ``exa``."""

    name = "exa"
    url = "https://api.exa.ai"
    key_variable = "EXA_API_KEY"

    def headers(self, key: str) -> dict[str, str]:
        return {"x-api-key": key}

    async def ask(self, query: str, top_k: int) -> Any:
        body = {"numResults": top_k, "contents": {"text": True}, **self.extra, "query": query}
        return await self.service.post(f"{self.base_url}/search", body)

    def hits(self, answer: Any) -> list[Hit]:
        return [page(r.get("url"), r.get("text"), n, r.get("score")) for n, r in enumerate(answer["results"], 1)]
