"""The template of a prompt step, and what each prompt that is made of it must hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from workbench.cases.flow import Flow
from workbench.cases.saved_run import SavedVisit
from workbench.engine.template_text import TemplateText, template_text
from workbench.pipeline.model import FromMemory, FromParameter, FromVariable, Literal
from workbench.pipeline.project import shipped_folder

_PRINTED_AS: Mapping[str, tuple[str, ...]] = {
    "q_ls": ("question",),
    "instruction_ls": ("instruction",),
    "ret_psg": ("documents", "passages", "document"),
    "psg_ls": ("docs_text",),
    "plan_ls": ("plan",),
    "page_ls": ("page",),
    "subq_ls": ("sub_question",),
    "kr_ls": ("CoT",),
    "extract_query_list": ("search_query",),
    "ans_ls": ("answer",),
    "memory_q_ls": ("question",),
    "memory_ret_psg": ("documents",),
}
"""Argument of a prompt of the dialect -> the names under which its template may have it."""


class Needed(Struct, frozen=True):
    """A variable that each prompt of a visit holds; ``is_memory`` says that the prompt was given all its saves."""

    argument: str
    variable: str
    is_memory: bool = False
    is_passages: bool = False


def template_of(flow: Flow, visit: SavedVisit) -> TemplateText | None:
    """None where the pipeline does not tell, or the file is not there any more."""
    binding = flow.binding(visit)
    if binding is None or flow.known is None:
        return None
    source = next((source for name, source in binding.inputs.items() if name.endswith("template")), None)
    if isinstance(source, FromParameter):
        held = flow.known.parameters.of(binding.step.alias).get(source.name)
        path = held.value if held is not None else None
    else:
        path = source.value if isinstance(source, Literal) else None
    if not isinstance(path, str):
        return None
    # Where a prompt has a template of its own, an empty parameter asks for that.
    path = path or f"pipelines/prompts/{binding.step.tool}.jinja"
    for folder in (flow.known.project, shipped_folder()):
        file = folder / path
        try:
            return template_text(file.read_text(encoding="utf-8-sig"))
        except (OSError, UnicodeDecodeError):
            continue
    return None


def needed(flow: Flow, visit: SavedVisit, template: TemplateText) -> Iterator[Needed]:
    """What the template prints in any case, as far as it is plain which variable that is."""
    binding = flow.binding(visit)
    for argument, source in (binding.inputs if binding is not None else {}).items():
        names = _PRINTED_AS.get(argument, (argument,))
        if template.always.isdisjoint(names):
            continue
        is_passages = argument in ("ret_psg", "psg_ls", "memory_ret_psg")
        if isinstance(source, FromVariable):
            yield Needed(argument, source.name, is_passages=is_passages)
        elif isinstance(source, FromMemory) and argument in _PRINTED_AS:
            yield Needed(argument, source.variable, is_memory=True, is_passages=is_passages)
