"""Half surrogate pairs, as models and files send them: UTF-8 has no form for them, so no line can carry them."""

from __future__ import annotations

import json
from typing import Any


def whole(text: str) -> str:
    """The text with pairs put together, and a replacement character for each half that stands alone."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def loaded(text: str) -> Any:
    """A JSON text's value, whose texts are whole: an escape may stand for a half. Raises ``ValueError``."""
    value = json.loads(text)
    return json.loads(whole(json.dumps(value, ensure_ascii=False))) if "\\u" in text else value
