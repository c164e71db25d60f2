"""The pipelines of the literature with what a run of each must come to, worked out by hand."""

from __future__ import annotations

from msgspec import Struct, field

HOPS = (1, 2, 3, 1, 2, 3, 1, 2, 3, 2, 1, 3)
"""Of questions_hops.jsonl: how many facts lead to each answer."""


class Method(Struct, frozen=True):
    """``calls`` is how many answers of the model a run takes; ``most`` how many it takes of a model that never ends.

    ``answer`` is the variable that holds each item's answer; ``sets`` are further parameters; ``right`` how many items
    a good model gets right, None where nothing is scored.
    """

    calls: int
    most: int
    right: int | None
    answer: str = "pred_ls"
    sets: tuple[str, ...] = ()
    rounds: tuple[int, ...] = field(default=())
    """For each item, in how many rounds of the loop something is done for it."""


METHODS: dict[str, Method] = {
    # One answer for each of ten questions.
    "vanilla_llm": Method(10, 10, right=0),
    "vanilla_rag": Method(10, 10, right=8),
    # One answer before the loop, and one in each round; the last fact comes with the answer.
    "ircot": Method(12 + sum(HOPS) - 12, 12 + 12 * 4, right=12, rounds=tuple(hops - 1 for hops in HOPS)),
    # One answer before the loop asks for the first fact; each round brings one.
    "search_r1": Method(12 + sum(HOPS), 12 + 12 * 4, right=12, rounds=HOPS),
}
