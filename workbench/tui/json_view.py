"""JSON, with names, texts and numbers told apart."""

from __future__ import annotations

import re

from workbench.tui.rows import Part
from workbench.tui.text_view import TextView

_TOKEN = re.compile(
    r'(?P<name>"(?:[^"\\]|\\.)*"(?=:))|(?P<value>"(?:[^"\\]|\\.)*"?)|(?P<key>-?\d[\d.eE+-]*)|(?P<mark>true|false|null)'
)


class JsonView(TextView):
    """Shows indented JSON. Looks are found row by row, since only the rows in view are looked at."""

    def _unsought(self, text: str) -> list[Part]:
        parts, end = [], 0
        for found in _TOKEN.finditer(text):
            parts += [Part(text[end : found.start()]), Part(found[0], found.lastgroup or "")]
            end = found.end()
        return [part for part in (*parts, Part(text[end:])) if part.text]
