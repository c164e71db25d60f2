"""The pipelines of single techniques with what a run of each must come to, worked out by hand."""

from __future__ import annotations

import tests.scripted.technique_answers  # noqa: F401 - the model learns what to say
from tests.scripted.methods import HOPS, Method

OUTRIGHT = ("prompt.check_psg_template=pipelines/prompts/check_passages_outright.jinja",)

TECHNIQUES: dict[str, Method] = {
    # A made-up passage or other wordings, and the answer; one of the passages is not found by embeddings.
    "hyde": Method(10 * 2, 10 * 2, right=9),
    "query_fusion": Method(10 * 2, 10 * 2, right=9),
    "contextual_compression": Method(10 * 2, 10 * 2, right=10),
    # No answer but the last; six of the passages are not found by their sentences.
    "parent_documents": Method(20, 20, right=14),
    "self_query": Method(11 * 2, 11 * 2, right=11),
    "corrective_rag": Method(10 * 2, 10 * 2, right=9),
    # Each of 13 is judged; 3 are answered at once, 4 after a search. Of the others 3 need two facts and 3 need three: a
    # verdict, for each further fact a query and a verdict, and the answer.
    "adaptive_rag": Method(13 + 3 + 4 + 3 * (2 + 2) + 3 * (2 + 4), 13 + 13 * (2 + 3 * 2), right=13, sets=OUTRIGHT),
    # A search for each fact, and the answer.
    "react": Method(sum(HOPS) + 12, 12 * 4, right=12, answer="ans_ls", prompts=12 + sum(HOPS) + 12),
    # An answer for each passage; the passages and what was made of them are the index of the searches.
    "question_index": Method(326, 326, answer="ans_ls"),
    "summary_index": Method(326, 326, answer="ans_ls"),
    # A question finds the question beside a passage each time, a summary eleven times.
    "question_search": Method(20, 20, right=20, before="question_index"),
    "summary_search": Method(20, 20, right=11, before="summary_index"),
    "augmentation": Method(answer="ids_with", before="question_index"),
    # Each of twelve turns: what it says, the summary, the profile.
    "long_chat": Method(12 * 3, 12 * 3, answer="ans_ls"),
}
