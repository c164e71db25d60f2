"""The pipelines of the literature with what a run of each must come to, worked out by hand."""

from __future__ import annotations

from msgspec import Struct

HOPS = (1, 2, 3, 1, 2, 3, 1, 2, 3, 2, 1, 3)
"""Of questions_hops.jsonl: how many facts lead to each answer."""
MIXED = (0, 0, 0, 1, 1, 0, 0, 1, 0, 1)
"""Of questions_mixed.jsonl: one round for those with two facts, but that the first search finds both for [1]."""
WEB = (1, 2, 2, 1, 2, 2, 1, 3, 2, 2, 3)
"""The same of web_questions.jsonl."""
SURVEYS = (9, 16, 13, 14, 11, 18, 9, 16, 13, 14)
"""Steps of each survey: search and plan; search and write for each section; extend, once more where that adds parts.

With s sections and p parts 2 + 2s + 1, and with parts 2p + 1 more: 3, 4, 5, 3 ... sections, every other one two parts.
"""


class Method(Struct, frozen=True):
    """``calls`` is how many answers of the model a run takes, ``most`` how many it takes of one that never ends.

    ``answer`` is the variable that holds each item's answer, None where there are no items; ``right`` how many items a
    good model gets right, None where nothing is scored; ``rounds`` for each item, in how many rounds of the loop
    something is done for it. ``prompts`` are those that are made item by item, where these are not the calls.
    """

    calls: int = 0
    most: int = 0
    right: int | None = None
    answer: str | None = "pred_ls"
    rounds: tuple[int, ...] = ()
    prompts: int | None = None
    sets: tuple[str, ...] = ()
    before: str = ""
    """The pipeline whose output it reads."""


METHODS: dict[str, Method] = {
    # ---- one answer for each question, or two
    "vanilla_llm": Method(10, 10, right=0),
    "vanilla_rag": Method(10, 10, right=9),
    "rag_full": Method(12, 12, right=8),
    # Who guesses A is right where A is right.
    "vanilla_multiple_choice": Method(11, 11, right=3),
    "rag_multiple_choice": Method(11, 11, right=11),
    "rankcot": Method(2 * 10, 2 * 10, right=10),
    "llm_memory": Method(10, 10, right=0),
    "rag_memory": Method(10, 10, right=9),
    "visrag": Method(11, 11, right=11),
    "evisrag": Method(11, 11, right=11),
    # One dialogue, one answer; its prompt is the dialogue itself.
    "multiturn_chat": Method(1, 1, answer="ans_ls", prompts=0),
    # ---- the same rounds for every item: before the loop, and in each of two rounds
    # Searching with the old question and the answer finds for most what it found before: the method's weakness.
    "iterretgen": Method(3 * 12, 3 * 12, right=6),
    # Two rounds that ask for a query, and the answer.
    "rag_loop": Method(3 * 10, 3 * 10, right=10),
    # ---- rounds until an item is done
    # Whether the passages suffice is asked before the loop and in each round, what to look for in each round, and at
    # last the answer. The template that is shipped as default judges itself, for the sake of small models.
    "rag_branch": Method(
        10 + 2 * sum(MIXED) + 10,
        10 + 2 * 10 * 5 + 10,
        right=10,
        rounds=MIXED,
        sets=("prompt.check_psg_template=pipelines/prompts/check_passages_outright.jinja",),
    ),
    # One answer before the loop, and one in each round; the last fact comes with the answer.
    "ircot": Method(12 + sum(HOPS) - 12, 12 + 12 * 4, right=12, rounds=tuple(hops - 1 for hops in HOPS)),
    # One answer before the loop asks for the first fact; each round brings one.
    "search_r1": Method(12 + sum(HOPS), 12 + 12 * 4, right=12, rounds=HOPS),
    "r1_searcher": Method(12 + sum(HOPS), 12 + 12 * 4, right=12, rounds=HOPS),
    # The same, and each round has a second call that reads the documents.
    "search_o1": Method(12 + 2 * sum(HOPS), 12 + 2 * 12 * 5, right=12, rounds=HOPS),
    # Plan and page; a query and the page anew in each round; the answer.
    "webnote": Method(2 * 12 + 2 * sum(HOPS) + 12, 2 * 12 + 2 * 12 * 5 + 12, right=12, rounds=HOPS),
    "webnote_websearch": Method(2 * 11 + 2 * sum(WEB) + 11, 2 * 11 + 2 * 11 * 5 + 11, right=11, rounds=WEB),
    "light_research": Method(
        2 * 12 + 2 * sum(HOPS) + 12, 2 * 12 + 2 * 12 * 5 + 12, right=12, answer="ans_ls", rounds=HOPS
    ),
    # One answer in each step, 24 steps at most.
    "survey": Method(sum(SURVEYS), 10 * 24, answer="ans_ls", rounds=SURVEYS),
    # ---- no model
    "hybrid_search": Method(answer="ret_psg"),
    "corpus_rerank": Method(answer="rerank_psg"),
    "web_search": Method(answer="ret_psg"),
    "evaluate_results": Method(right=9),
    "eval_trec": Method(answer=None),
    "eval_trec_pvalue": Method(answer=None),
    "load_data": Method(answer="q_ls"),
}
