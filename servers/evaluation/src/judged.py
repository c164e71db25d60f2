"""Metrics that a model judges, by the definitions of RAGAS (Es et al. 2024) and of LLM-as-a-judge (Zheng et al. 2023).

Each gives a score from 0 to 1 and the steps that led to it; what can't be scored has no score (None).
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from judge import Judge, Unreadable, numbered

from workbench.mcp.backends import word_llama

QUESTIONS = 3
"""How many questions an answer is turned back into."""
Judged = tuple[float | None, dict[str, Any]]
"""A score, and the steps."""


async def faithfulness(judge: Judge, question: str, answer: str, passages: Sequence[str]) -> Judged:
    """The share of the answer's statements that the passages bear out."""
    statements = await _statements(judge, question, answer)
    supported = await _borne_out(judge, statements, passages)
    return _share(supported), {"statements": statements, "supported": supported}


async def context_recall(judge: Judge, question: str, gold: str, passages: Sequence[str]) -> Judged:
    """The share of the gold answer's statements that the passages bear out."""
    statements = await _statements(judge, question, gold)
    supported = await _borne_out(judge, statements, passages)
    return _share(supported), {"statements": statements, "supported": supported}


async def context_precision(judge: Judge, question: str, gold: str, passages: Sequence[str]) -> Judged:
    """Whether useful passages stand before useless ones: the mean of the precision at the rank of each useful one."""
    if not passages:
        return 0.0, {"useful": []}
    useful = await judge.verdicts(
        f"Question: {question}\nAnswer: {gold}\n\nPassages:\n{numbered(passages)}\n\n"
        "For each passage: does it help to come to this answer? Write a JSON list with 1 (yes) or 0 (no) for each, "
        f"in their order, {len(passages)} in all, and nothing else.",
        len(passages),
    )
    precisions = [sum(useful[:rank]) / rank for rank, is_useful in enumerate(useful, 1) if is_useful]
    return (sum(precisions) / len(precisions) if precisions else 0.0), {"useful": useful}


async def answer_relevancy(judge: Judge, question: str, answer: str) -> Judged:
    """How near the questions that the answer would answer are to the one that was asked; 0 for an evasive answer."""
    found = await judge.ask(
        f"Answer: {answer}\n\nWrite {QUESTIONS} different questions to which this would be the answer, in the language "
        'of the answer, and whether it is evasive ("I do not know" and the like). Write JSON and nothing else: '
        '{"questions": ["...", ...], "evasive": 0 or 1}'
    )
    questions = found.get("questions") if isinstance(found, dict) else None
    if not isinstance(questions, list) or not questions or not all(isinstance(one, str) for one in questions):
        raise Unreadable(f"no questions: {str(found)[:80]}")
    near = await asyncio.to_thread(_similarities, question, questions)
    score = 0.0 if found.get("evasive") in (1, True) else sum(near) / len(near)
    return score, {"questions": questions, "similarities": near, "evasive": bool(found.get("evasive"))}


async def pointwise(judge: Judge, question: str, answer: str, gold: str, criteria: str) -> Judged:
    """The answer's grade from 1 to 5, as a score: 1 is 0, 5 is 1."""
    reference = f"Reference answer: {gold}\n" if gold else ""
    found = await judge.ask(
        f"Question: {question}\n{reference}Answer: {answer}\n\nGrade the answer from 1 (useless) to 5 (perfect): "
        f'{criteria}. Write JSON and nothing else: {{"reason": "one sentence", "grade": 1 to 5}}'
    )
    grade = found.get("grade") if isinstance(found, dict) else None
    if not isinstance(grade, int) or isinstance(grade, bool) or not 1 <= grade <= 5:
        raise Unreadable(f"no grade from 1 to 5: {str(found)[:80]}")
    return (grade - 1) / 4, {"grade": grade, "reason": str(found.get("reason", ""))}


async def pairwise(judge: Judge, question: str, first: str, second: str, criteria: str) -> tuple[str, dict[str, Any]]:
    """Which answer is better: ``first``, ``second`` or ``tie``.

    The judge is asked twice, with the answers in either place; one that only its place makes better is no better.
    """
    straight = await _better(judge, question, first, second, criteria)
    swapped = await _better(judge, question, second, first, criteria)
    votes = [straight, {"A": "B", "B": "A"}.get(swapped, "tie")]
    winner = {"A": "first", "B": "second"}.get(votes[0], "tie") if votes[0] == votes[1] else "tie"
    return winner, {"straight": straight, "swapped": swapped}


async def _better(judge: Judge, question: str, one: str, other: str, criteria: str) -> str:
    found = await judge.ask(
        f"Question: {question}\n\nAnswer A: {one}\n\nAnswer B: {other}\n\nWhich answer is better: {criteria}? "
        'Write JSON and nothing else: {"better": "A" or "B" or "tie"}'
    )
    better = found.get("better") if isinstance(found, dict) else None
    if better not in ("A", "B", "tie"):
        raise Unreadable(f"neither A nor B nor tie: {str(found)[:80]}")
    return str(better)


async def _statements(judge: Judge, question: str, answer: str) -> list[str]:
    if not answer.strip():
        return []
    return await judge.texts(
        f"Question: {question}\nAnswer: {answer}\n\nTake the answer apart into statements that can be checked one by "
        "one, each a whole sentence that is understood without the others. Write a JSON list of texts and nothing else."
    )


async def _borne_out(judge: Judge, statements: Sequence[str], passages: Sequence[str]) -> list[bool]:
    if not statements or not passages:
        return [False for _ in statements]
    return await judge.verdicts(
        f"Passages:\n{numbered(passages)}\n\nStatements:\n{numbered(statements)}\n\nFor each statement: can it be "
        "concluded from the passages alone? Write a JSON list with 1 (yes) or 0 (no) for each, in their order, "
        f"{len(statements)} in all, and nothing else.",
        len(statements),
    )


def _share(verdicts: Sequence[bool]) -> float | None:
    return sum(verdicts) / len(verdicts) if verdicts else None


def _similarities(question: str, others: Sequence[str]) -> list[float]:
    """Cosines of word vectors, not below 0."""
    import numpy as np

    model = word_llama("what compares questions (answer_relevance)")
    vectors = np.asarray(model.embed([question, *others], norm=True))
    return [max(0.0, float(cosine)) for cosine in vectors[1:] @ vectors[0]]
