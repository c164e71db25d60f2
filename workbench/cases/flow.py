"""The flow of values through a run: which visit wrote an item's entry, what each step reads, and which items it saw.

With the pipeline this follows from the steps' bindings. Without, what a step reads is guessed from the names that the
dialect's servers use; ``Flow.is_guessed`` says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Literal

from workbench.cases.pipeline_beside import KnownPipeline
from workbench.cases.saved_run import SavedRun, SavedVisit, is_unset
from workbench.engine.values import is_list
from workbench.pipeline.binding import Binding
from workbench.pipeline.model import FromVariable

Kind = Literal["prompt", "router", "search", "evaluation", "generation", "other"]


class Flow:
    """Of one run; everything is worked out once and kept."""

    def __init__(self, run: SavedRun, known: KnownPipeline | None = None) -> None:
        self.run = run
        self.known = known
        self._bindings = known.bindings if known is not None else {}
        self._kinds: dict[int, Kind] = {}
        self._reads: dict[int, dict[str, str]] = {}
        self._parts: dict[int, frozenset[int] | None] = {}

    @property
    def is_guessed(self) -> bool:
        return not self._bindings

    @cached_property
    def writers(self) -> dict[str, list[SavedVisit]]:
        """Variable -> the visits that wrote it, in order."""
        found: dict[str, list[SavedVisit]] = {}
        for visit in self.run.visits:
            for name in visit.saved:
                found.setdefault(name, []).append(visit)
        return found

    def binding(self, visit: SavedVisit) -> Binding | None:
        """The binding of a visit's step; None where it is not known, or not known which of several it was."""
        paths = {place.step for place in visit.places}
        if len(paths) != 1:
            return None
        found = self._bindings.get(paths.pop())
        return found if found is not None and found.step.name == visit.step else None

    def kind(self, visit: SavedVisit) -> Kind:
        if visit.number not in self._kinds:
            self._kinds[visit.number] = self._kind(visit)
        return self._kinds[visit.number]

    def reads(self, visit: SavedVisit) -> dict[str, str]:
        """Argument -> the variable that it is; a guessed argument has the variable's name."""
        if visit.number not in self._reads:
            self._reads[visit.number] = self._bound_reads(visit) or {n: n for n in self._guessed_reads(visit)}
        return self._reads[visit.number]

    def writer(self, name: str, before: int, item: int) -> SavedVisit | None:
        """The visit that gave a variable's entry of an item, as it stood before visit ``before``."""
        visits = [visit for visit in self.writers.get(name, ()) if visit.number < before]
        for place in reversed(range(len(visits))):
            visit = visits[place]
            value = visit.saved[name]
            if self.run.is_item_list(value, name):
                if is_unset(value[item]) or not self._worked_on(visit, item):
                    continue
                earlier: Any = visits[place - 1].saved[name] if place else None
                if self._may_be_kept(visit) and self.run.is_item_list(earlier, name) and earlier[item] == value[item]:
                    continue
            return visit
        return None

    def entry(self, name: str, before: int, item: int) -> Any:
        """An item's entry of a variable, as it stood before visit ``before``; None where nothing had been written."""
        writer = self.writer(name, before, item)
        return self.run.of_item(writer.saved[name], item, name) if writer is not None else None

    def items_of(self, visit: SavedVisit) -> frozenset[int] | None:
        """The items that a visit worked on; None where it was all of them, or nothing tells.

        A memory file tells it by the entries that differ from the version before.
        """
        if visit.number not in self._parts:
            self._parts[visit.number] = self._items_of(visit)
        return self._parts[visit.number]

    def gives_items(self, visit: SavedVisit) -> bool:
        """Whether the visit is the one that the items came from: its lists of texts are golds or choices."""
        given = self.writers.get(self.run.counted_by or "", [])
        return bool(given) and visit is given[0]

    # ---- items

    def _worked_on(self, visit: SavedVisit, item: int) -> bool:
        items = visit.recorded.items if visit.recorded is not None else None
        return items is None or item in items

    def _may_be_kept(self, visit: SavedVisit) -> bool:
        """Whether an entry that did not change may be one that the visit only left as it was."""
        if visit.recorded is not None:
            return self.kind(visit) == "router"
        return not visit.places or bool(visit.places[0].branch) or self.kind(visit) == "router"

    def _items_of(self, visit: SavedVisit) -> frozenset[int] | None:
        if visit.recorded is not None:
            return frozenset(visit.recorded.items) if visit.recorded.items is not None else None
        lists = [(n, v) for n, v in visit.saved.items() if self.run.is_item_list(v, n)]
        if not lists:
            return None
        in_branch = bool(visit.places and visit.places[0].branch)
        found: set[int] = set()
        for name, value in lists:
            earlier = next((v for v in reversed(self.writers[name]) if v.number < visit.number), None)
            before = earlier.saved[name] if in_branch and earlier is not None else None
            known = before if self.run.is_item_list(before, name) else None
            found.update(
                item
                for item, entry in enumerate(value)
                if not is_unset(entry) and (known is None or known[item] != entry)
            )
        return frozenset(found)

    # ---- kinds

    def _kind(self, visit: SavedVisit) -> Kind:
        binding = self.binding(visit)
        alias, _, tool = visit.step.partition(".")
        if binding is not None and binding.is_router:
            return "router"
        if binding is not None and binding.declaration.kind == "prompt":
            return "prompt"
        if alias == "evaluation" or tool.startswith("evaluate"):
            return "evaluation"
        if binding is None and alias in ("prompt", "router"):
            return "prompt" if alias == "prompt" else "router"
        if any(_holds_passages(value) for value in visit.saved.values()) and not self.gives_items(visit):
            return "search"
        takes_prompts = binding is not None and "prompt_ls" in binding.inputs
        return "generation" if takes_prompts or tool.startswith("generate") or alias == "generation" else "other"

    def _bound_reads(self, visit: SavedVisit) -> dict[str, str]:
        binding = self.binding(visit)
        inputs = binding.inputs.items() if binding is not None else ()
        return {argument: source.name for argument, source in inputs if isinstance(source, FromVariable)}

    def _guessed_reads(self, visit: SavedVisit) -> Sequence[str]:
        if self.binding(visit) is not None:
            return ()
        before = [name for name, visits in self.writers.items() if visits[0].number < visit.number]
        match self.kind(visit):
            case "prompt" | "search":
                return [name for name in before if name in ("q_ls", "ret_psg")]
            case "router":
                return [name for name in visit.saved if name in before]
            case "evaluation":
                return [name for name in ("pred_ls", "gt_ls") if name in before]
            case "generation":
                return self._latest(visit, "prompt")
            case _:
                return self._latest(visit, "generation")

    def _latest(self, visit: SavedVisit, kind: Kind) -> list[str]:
        earlier = (v for v in reversed(self.run.visits[: visit.number - 1]) if v.saved and self.kind(v) == kind)
        return next((list(v.saved) for v in earlier), [])


def _holds_passages(value: Any) -> bool:
    """Whether a value is a list with a list of texts (or of maps with texts) for each item, as searches give."""
    if not is_list(value) or not len(value):
        return False
    entry = next((entry for entry in value if is_list(entry) and len(entry)), None)
    return entry is not None and isinstance(entry[0], str | dict)
