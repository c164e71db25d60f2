"""What stands in a Jinja2 template for certain, without rendering it: its own words, and the names it always prints."""

from __future__ import annotations

from msgspec import Struct

from workbench.engine.sandbox import environment


class TemplateText(Struct, frozen=True):
    """``words`` are the template's own, piece by piece; ``always`` the names that each rendering holds as they are."""

    words: tuple[str, ...] = ()
    always: frozenset[str] = frozenset()


def template_text(source: str) -> TemplateText | None:
    """None where the source is no template.

    A name counts as always printed where it stands outside every condition and loop, with no filter that may change
    it.
    """
    from jinja2 import TemplateSyntaxError, nodes

    try:
        tree = environment().parse(source)
    except TemplateSyntaxError:
        return None
    words = [data.data for data in tree.find_all(nodes.TemplateData)]
    words += [constant.value for constant in tree.find_all(nodes.Const) if isinstance(constant.value, str)]
    printed = [part for node in tree.body if isinstance(node, nodes.Output) for part in node.nodes]
    always = frozenset(part.name for part in printed if isinstance(part, nodes.Name))
    return TemplateText(tuple(words), always)
