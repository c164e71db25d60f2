"""Whether every prompt of a run holds its own item's texts and nobody else's.

The texts of an item are what the steps gave to it before the prompt: its question, the passages that were found for
it, what a model or a tool made of these. A text of [3] in a prompt of [1] is a fault unless it stands in one of [1]'s
own texts, in an earlier prompt of [1], in a value that is everybody's, or in the template. A text that was only handed
on by a step that puts passages together is not the item's own: such steps are where items get mixed up.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from workbench.cases.flow import Flow
from workbench.cases.item_texts import START, Found, ItemTexts, Origin, is_telling, joined, plain, texts_in
from workbench.cases.prompt_templates import Needed, needed, template_of
from workbench.cases.saved_run import SavedVisit, is_unset
from workbench.cases.study import Study
from workbench.engine.template_text import TemplateText
from workbench.engine.values import count_of, is_list
from workbench.pipeline.model import FromMemory

_ENOUGH = 3
"""So many prompts that all hold a text, of a template that is not known: it is the template's."""


_PROMPTS = ("prompt_ls", "messages")
_AGENTS = ("agent_ls",)
"""Conversations that go on: each turn adds what the agent said, and what it observed."""

_GIVEN = ("question", "passage")


class ItemFault(Struct, frozen=True):
    """What is wrong with one prompt: a text in it that is others', or one of its own that is not in it.

    ``what`` is what the text is to those it belongs to: question, passage, or the variable's name; ``of`` are they, and
    ``given`` the visit that gave it to the first of them.
    """

    kind: Literal["foreign", "lacking"]
    item: int
    visit: SavedVisit
    variable: str
    what: str
    text: str
    of: tuple[int, ...]
    given: int | None = None


class ItemCheck(Struct, frozen=True):
    """``prompts`` were checked, of ``items`` items, made in ``visits`` visits of ``steps`` steps."""

    faults: tuple[ItemFault, ...]
    prompts: int
    items: int
    visits: int
    steps: int
    notes: tuple[str, ...]

    @property
    def faulty(self) -> int:
        """Prompts with at least one fault."""
        return len({(fault.item, fault.visit.number, fault.variable) for fault in self.faults})


def check_items(study: Study) -> ItemCheck:
    """Check a run, visit by visit."""
    return _Check(study).result()


class _Check:
    def __init__(self, study: Study) -> None:
        self.study, self.flow, self.run = study, study.flow, study.run
        self.texts = ItemTexts(self.run.count)
        self.asked: list[list[str]] = [[] for _ in range(self.run.count)]
        """The prompts that each item had so far."""
        self.questions = [plain(study.question(item)) for item in range(self.run.count)]
        self.prompt_names = _names_read_as(self.flow, _PROMPTS)
        self.agent_names = _names_read_as(self.flow, _AGENTS)
        self.agents: dict[tuple[str, int], Any] = {}
        """What an agent remembered when it was checked last: one that has ended is not asked again."""
        self.faults: list[ItemFault] = []
        self.checked: list[tuple[SavedVisit, int]] = []
        self.notes: dict[str, None] = {}

    def result(self) -> ItemCheck:
        for visit in self.run.visits:
            for name, value in visit.saved.items():
                if self._is_prompt(visit, name):
                    self._check(visit, name, value)
                else:
                    self._take(visit, name, value)
        visits = {visit.number for visit, _ in self.checked}
        steps = {visit.places[0].step if visit.places else visit.step for visit, _ in self.checked}
        items = {item for _, item in self.checked}
        return ItemCheck(tuple(self.faults), len(self.checked), len(items), len(visits), len(steps), tuple(self.notes))

    def _is_prompt(self, visit: SavedVisit, name: str) -> bool:
        kind = self.flow.kind(visit)
        if name in self.agent_names:
            return True
        return kind == "prompt" or (kind == "other" and name in self.prompt_names and not self.flow.gives_items(visit))

    # ---- whose texts are whose

    def _take(self, visit: SavedVisit, name: str, value: Any) -> None:
        if not self.run.is_item_list(value, name):
            self.texts.common.update((plain(text), None) for text in texts_in(value))
            return
        kind = self.flow.kind(visit)
        is_passages = kind == "search"
        is_given = is_passages or self.flow.gives_items(visit)
        telling = [text for text in texts_in(value) if is_telling(text, is_made=False)]
        if is_passages and all(map(self.texts.is_known, telling)) and self._hands_on(visit, telling):
            return
        is_question = is_given and name == (self.study.roles.question or self.run.counted_by)
        what = "question" if is_question else "passage" if is_passages else name
        origin = Origin(name, visit.number, what)
        for item, entry in enumerate(value):
            texts = list(texts_in(entry))
            for text in texts:
                is_sought = is_telling(text, is_made=not is_given) and (is_given or not self._is_echo(item, text))
                self.texts.give(item, text, origin, is_sought=is_sought, is_passage=is_passages)
            if len(texts) > 1:
                self.texts.give(item, joined(texts), origin, is_sought=False)

    def _hands_on(self, visit: SavedVisit, texts: Sequence[str]) -> bool:
        """Whether a visit puts passages together that others found: it reads them, and searches for none."""
        binding = self.flow.binding(visit)
        if binding is None or "search" in binding.step.tool:
            return False
        sources = binding.inputs.values()
        reads = {*self.flow.reads(visit).values(), *(s.variable for s in sources if isinstance(s, FromMemory))}
        before = [[v for v in self.flow.writers.get(name, ()) if v.number < visit.number] for name in reads]
        read = {plain(t) for name, vs in zip(reads, before, strict=True) if vs for t in texts_in(vs[-1].saved[name])}
        return all(plain(text) in read for text in texts)

    def _is_echo(self, item: int, text: str) -> bool:
        """Whether a model only said again what it was asked: that may be the template's words."""
        return any(plain(text) in prompt for prompt in self.asked[item])

    # ---- prompts

    def _check(self, visit: SavedVisit, name: str, value: Any) -> None:
        if not self.run.is_item_list(value, name):
            length = f", a list of {len(value)} for {count_of(self.run.count, 'item')}" if is_list(value) else ""
            self.notes[f"visit {visit.number} {visit.step} wrote {name}{length}: whose it is is not known"] = None
            return
        items = self.flow.items_of(visit)
        prompts = {
            item: joined(texts_in(entry))
            for item, entry in enumerate(value)
            if entry is not None and not is_unset(entry) and (items is None or item in items)
            if self.agents.get((name, item)) != entry
        }
        if name in self.agent_names:
            self.agents |= {(name, item): value[item] for item in prompts}
        template = template_of(self.flow, visit)
        if template is None:
            self.notes[f"{visit.step}: its template is not known, so it is not known what its prompts must hold"] = None
        found = [fault for item, text in prompts.items() for fault in self._foreign(visit, name, item, text, template)]
        self.faults += found if template is not None else self._without_template_words(found, visit, prompts)
        if template is not None:
            wanted = list(needed(self.flow, visit, template))
            self.faults += [f for item, text in prompts.items() for f in self._lacking(visit, name, item, text, wanted)]
        for item, text in prompts.items():
            self.checked.append((visit, item))
            self.asked[item].append(text)

    def _foreign(
        self, visit: SavedVisit, name: str, item: int, prompt: str, template: TemplateText | None
    ) -> Iterator[ItemFault]:
        words = [plain(text) for text in template.words] if template is not None else []
        told: set[str] = set()
        for found in sorted(self.texts.find(prompt), key=lambda found: -len(found.text)):
            owners = self._others(found, item)
            if not owners or any(found.text in other for other in told) or self._is_excused(item, found.text, words):
                continue
            told |= {found.text, found.shown}
            origin = next(iter(owners.values()))
            yield ItemFault("foreign", item, visit, name, origin.what, found.shown, tuple(sorted(owners)), origin.visit)

    def _others(self, found: Found, item: int) -> Mapping[int, Origin]:
        """Whose a text is; nobody's where it is the item's own. What is made of the same question may be the same."""
        if item in found.owners:
            return {}
        question = self.questions[item]
        return {
            owner: origin
            for owner, origin in found.owners.items()
            if origin.what in _GIVEN or not question or self.questions[owner] != question
        }

    def _is_excused(self, item: int, text: str, words: Sequence[str]) -> bool:
        return (
            self.texts.holds(item, text)
            or any(text in said for said in words)
            or any(text in earlier for earlier in self.asked[item])
        )

    def _without_template_words(
        self, found: list[ItemFault], visit: SavedVisit, prompts: Mapping[int, str]
    ) -> Iterator[ItemFault]:
        for fault in found:
            if len(prompts) >= _ENOUGH and all(plain(fault.text) in prompt for prompt in prompts.values()):
                self.notes[f"{visit.step}: all its prompts hold {fault.text[:START]!r}: taken for its template's"] = (
                    None
                )
            else:
                yield fault

    def _lacking(
        self, visit: SavedVisit, name: str, item: int, prompt: str, wanted: Sequence[Needed]
    ) -> Iterator[ItemFault]:
        for need in wanted:
            texts = self._own(visit, item, need)
            starts = [plain(text)[:START].strip() for text in texts]
            if not starts or any(start in prompt for start in starts):
                continue
            is_question = need.argument in ("q_ls", "memory_q_ls")
            what = "question" if is_question else "passage" if need.is_passages else need.variable
            writer = self.flow.writer(need.variable, visit.number, item)
            given = writer.number if writer is not None else None
            yield ItemFault("lacking", item, visit, name, what, texts[0], (item,), given)

    def _own(self, visit: SavedVisit, item: int, need: Needed) -> list[str]:
        """The texts of a variable one of which must be in the item's prompt; none where it has none, or is nobody's."""
        if need.is_memory:
            saves = [v for v in self.flow.writers.get(need.variable, ()) if v.number < visit.number]
            # Of the questions the first save is the question; of passages any will do.
            values = [v.saved[need.variable] for v in (saves if need.is_passages else saves[:1])]
            values = [value[item] for value in values if self.run.is_item_list(value, need.variable)]
            return list(texts_in(values))
        writer = self.flow.writer(need.variable, visit.number, item)
        if writer is None or not self.run.is_item_list(writer.saved[need.variable], need.variable):
            return []
        return list(texts_in(writer.saved[need.variable][item]))


def _names_read_as(flow: Flow, arguments: Collection[str]) -> set[str]:
    """The variables that models are given as one of these arguments."""
    names: set[str] = set()
    for visit in flow.run.visits:
        if flow.kind(visit) == "generation":
            names.update(name for argument, name in flow.reads(visit).items() if argument in arguments)
    return names
