"""Which of the shipped templates a prompt was made of, and what stands in its places."""

from __future__ import annotations

import re
from functools import lru_cache

from jinja2 import Environment, nodes
from msgspec import Struct

from tests.scripted.knowledge import ROOT

PROMPTS = ROOT / "pipelines" / "prompts"
PICTURE = "<image>"
"""Where it stands in a template a picture goes, which is no text."""
_ANYTHING = r"[\s\S]*?"
_EDGES = re.compile(r"^(?:\\\s)+|(?:\\\s)+$")
"""Blanks at the ends of a template: prompts are stripped on their way."""


class Recognised(Struct, frozen=True):
    """A template's name, and its variables with what they were in this prompt."""

    template: str
    slots: dict[str, str]


class _Pattern(Struct, frozen=True):
    template: str
    regex: re.Pattern[str]
    words: tuple[str, ...]
    """What of the template stands in each of its prompts, whatever its variables are."""

    @property
    def letters(self) -> int:
        """The more, the surer it is."""
        return sum(map(len, self.words))

    def fits(self, prompt: str) -> re.Match[str] | None:
        """The words are looked for first: the expression takes its time on long prompts."""
        if not all(words in prompt for words in self.words):
            return None
        # A place at the beginning that is empty takes the blanks after it along.
        return self.regex.fullmatch(prompt) or self.regex.fullmatch(f"\n\n{prompt}")


@lru_cache(maxsize=1)
def _patterns() -> tuple[_Pattern, ...]:
    made = []
    for file in PROMPTS.glob("*.jinja"):
        tree = Environment().parse(file.read_text(encoding="utf-8"))
        names: set[str] = set()
        regex = "".join(_regex(node, names) for node in tree.body)
        always = [part for node in tree.body if isinstance(node, nodes.Output) for part in node.nodes]
        words = tuple(part.data.replace(PICTURE, "").strip() for part in always if isinstance(part, nodes.TemplateData))
        made.append(_Pattern(file.stem, re.compile(rf"\s*{_EDGES.sub('', regex)}\s*"), words))
    return tuple(sorted(made, key=lambda pattern: (-pattern.letters, pattern.template)))


def _regex(node: nodes.Node, names: set[str]) -> str:
    if isinstance(node, nodes.TemplateData):
        return re.escape(node.data.replace(PICTURE, ""))
    if isinstance(node, nodes.Output):
        return "".join(_regex(part, names) for part in node.nodes)
    if isinstance(node, nodes.Name) and node.name not in names:
        names.add(node.name)
        return f"(?P<{node.name}>{_ANYTHING})"
    if isinstance(node, nodes.If):
        ways = ["".join(_regex(part, names) for part in body) for body in (node.body, node.else_)]
        return f"(?:{'|'.join(ways)})"
    return _ANYTHING if isinstance(node, nodes.Expr | nodes.For) else ""


def recognise(prompt: str) -> Recognised | None:
    """The template with the most words of its own that fits the whole prompt."""
    for pattern in _patterns():
        found = pattern.fits(prompt)
        if found is not None:
            return Recognised(pattern.template, {name: text or "" for name, text in found.groupdict().items()})
    return None
