"""Where a prediction came from: the visits that made it for one item, from the passages on."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from workbench.cases.flow import Flow
from workbench.cases.saved_run import SavedVisit, is_list, is_unset
from workbench.cases.study import Study, text_of

Stage = Literal["data", "retrieval", "prompt", "generation", "extraction", "evaluation", "control", "unknown"]
_LONGEST = 64
_START = 40
"""Characters by which a passage is known again in a prompt."""


class Link(Struct, frozen=True):
    """A visit on the way of an item: its stage, the variable it wrote, and what that says for the item."""

    stage: Stage
    visit: SavedVisit
    name: str
    text: str
    starts: tuple[str, ...] = ()
    """How each of its passages begins."""


class Trace(Struct, frozen=True):
    """The way of an item, first link first. ``passages`` are what its prompt was given, and by whom.

    ``broken_at`` is a variable on the way that nobody had written for the item.
    """

    links: tuple[Link, ...]
    passages: tuple[Link, ...] = ()
    broken_at: str | None = None
    broken_reader: SavedVisit | None = None

    def of(self, *stages: Stage) -> list[Link]:
        return [link for link in self.links if link.stage in stages]


def trace(study: Study, item: int) -> Trace:
    """Follow the prediction of an item back to the prompt and its passages."""
    flow, name = study.flow, study.roles.prediction
    before = study.roles.evaluated_by or study.end
    chain: list[tuple[SavedVisit, str]] = []
    reader = study.run.visits[before - 1] if before <= len(study.run.visits) else None
    while name is not None and len(chain) < _LONGEST:
        visit = flow.writer(name, before, item)
        if visit is None:
            return Trace(_links(study, chain, item), _passages(study, chain, item), name, reader)
        chain.append((visit, name))
        reader = visit
        if flow.kind(visit) in ("prompt", "search"):
            break
        name, before = _source(study, visit), visit.number
    return Trace(_links(study, chain, item), _passages(study, chain, item))


def _source(study: Study, visit: SavedVisit) -> str | None:
    """The variable that a visit made its output of; None where it made it of the question, or nobody knows."""
    flow, roles = study.flow, study.roles
    reads = [name for name in flow.reads(visit).values() if name in flow.writers]
    prompts = [name for name in reads if any(flow.kind(v) == "prompt" for v in flow.writers[name])]
    others = [name for name in reads if name not in (roles.gold, roles.question, *prompts)]
    return next(iter([*prompts, *others]), None)


def _links(study: Study, chain: list[tuple[SavedVisit, str]], item: int) -> tuple[Link, ...]:
    """The chain with its stages: the generation is the last visit that takes prompts, or the first after the prompt."""
    flow = study.flow
    kinds = [flow.kind(visit) for visit, _ in chain]
    asked = next((n for n, kind in enumerate(kinds) if kind == "prompt"), None)
    model = next((n for n, kind in enumerate(kinds) if kind == "generation"), None)
    if model is None and asked is not None and asked > 0:
        model = asked - 1
    if model is None and chain and kinds[-1] == "other":
        model = len(chain) - 1
    links = []
    for number, (visit, name) in enumerate(chain):
        stage: Stage = "extraction"
        if kinds[number] == "router":
            stage = "control"
        elif kinds[number] == "search":
            stage = "retrieval"
        elif number == model:
            stage = "generation"
        elif model is not None and number > model:
            stage = "prompt"
        value = study.run.of_item(visit.saved[name], item, name)
        links.append(Link(stage, visit, name, text_of(value)))
    return tuple(reversed(links))


def _passages(study: Study, chain: list[tuple[SavedVisit, str]], item: int) -> tuple[Link, ...]:
    """What the prompt was made of besides the question: one link for each list of passages that it read."""
    flow = study.flow
    asked = next((visit for visit, _ in chain if flow.kind(visit) == "prompt"), None)
    if asked is None:
        return ()
    found = []
    for name in flow.reads(asked).values():
        writer = flow.writer(name, asked.number, item) if name in flow.writers else None
        if writer is not None and flow.kind(writer) == "search":
            found.append(_found(study.run.of_item(writer.saved[name], item, name), writer, name))
    return tuple(found)


def found_before(flow: Flow, item: int, before: int) -> list[Link]:
    """Everything that searches gave for an item before a visit, in order."""
    found = []
    for visit in flow.run.visits[: before - 1]:
        if flow.kind(visit) == "search":
            for name, value in visit.saved.items():
                entry = flow.run.of_item(value, item, name)
                if not is_unset(entry):
                    found.append(_found(entry, visit, name))
    return found


def prompts_for(flow: Flow, item: int) -> list[Link]:
    """Every prompt that was made for an item, in order."""
    return [
        Link("prompt", visit, name, text_of(flow.run.of_item(value, item, name)))
        for visit in flow.run.visits
        if flow.kind(visit) == "prompt"
        for name, value in visit.saved.items()
    ]


def _found(entry: Any, visit: SavedVisit, name: str) -> Link:
    passages = [text_of(passage) for passage in entry] if is_list(entry) else [text_of(entry)]
    starts = tuple(passage.strip()[:_START] for passage in passages if passage.strip())
    return Link("retrieval", visit, name, "\n".join(passages), starts)
