"""The retriever server with one backend more: queries are numbers of rows in a file, so that nothing is embedded.

For benchmarks/retrieval_speed.py: what is left of a search is the server's own cost and the index's.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "servers" / "retriever" / "src"))


from embedders import EMBEDDERS, Embedder
from retriever import app


class GivenVectors(Embedder):
    """The backend ``given``."""

    name = "given"
    settings = frozenset()

    def __init__(self, model: str, configs: Mapping[str, Any], batch_size: int) -> None:
        self._rows = np.load(os.environ["GIVEN_VECTORS"])

    async def embed(self, texts: Sequence[str], *, queries: bool = False) -> Any:
        return self._rows[[int(text) for text in texts]]


if __name__ == "__main__":
    EMBEDDERS.places["given"] = "given_vectors:GivenVectors"
    app.run(transport="stdio")
