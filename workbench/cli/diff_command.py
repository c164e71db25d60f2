"""``ragwb diff A B``: two runs, or two timelines of a session, side by side."""

from __future__ import annotations

import argparse
from typing import Any

from workbench.cases.compare import Comparison, ItemPair, Parting
from workbench.cases.opening import OpenedRun
from workbench.cases.saved_run import SavedVisit
from workbench.cases.word_diff import marked
from workbench.cli.exits import Exit
from workbench.cli.opened import WrongUse, opened_runs, read_items, say_notes, study_of
from workbench.cli.printing import print_json, print_text
from workbench.cli.report import say
from workbench.engine.values import count_of
from workbench.engine.visible import one_line
from workbench.record.redaction import Redactor

_SHOWN = 20
"""Items shown without being asked for; the rest is counted."""
_LONG = 300


def diff(options: argparse.Namespace) -> int:
    try:
        first, second = _two(options)
        comparison = Comparison(study_of(first, options), study_of(second, options), options.seed)
        items = read_items(options.items, comparison.first.run.count)
    except WrongUse as error:
        if str(error):
            say(f"ragwb diff: {error}")
        return Exit.WRONG
    redactor = first.redactor()
    redactor.learn(second.redactor().secrets)
    if options.json:
        print_json(redactor.value(_data(comparison, items)))
        return Exit.WELL
    say_notes(dict.fromkeys((*comparison.first.notes, *comparison.second.notes)))
    print_text(_text(comparison, items, redactor))
    return Exit.WELL


def _two(options: argparse.Namespace) -> tuple[OpenedRun, OpenedRun]:
    """The two runs that are meant. Raises ``WrongUse``."""
    runs = opened_runs(options.first, options.pipeline)
    if options.second is not None:
        return runs[0], opened_runs(options.second, options.pipeline)[0]
    timelines = {opened.run.timeline: opened for opened in runs}
    if options.timelines is None:
        its = sorted(number for number in timelines if number is not None)
        hint = f"; its timelines are {', '.join(map(str, its))}: --timelines {its[0]},{its[1]}" if its[1:] else ""
        raise WrongUse(f"two runs are compared, and {options.first} is one{hint}")
    numbers = [int(part) if part.strip().isdigit() else None for part in options.timelines.split(",")]
    its = sorted(number for number in timelines if number is not None)
    if not its:
        raise WrongUse(f"{options.first}: only a session file has timelines")
    if len(its) == 1:
        raise WrongUse(
            f"{options.first} has one timeline; another begins where a run goes on from a visit in its past (key `u`)"
        )
    if len(numbers) != 2 or not set(numbers) <= set(its):
        raise WrongUse(f"--timelines {options.timelines}: write two of {', '.join(map(str, its))}")
    return timelines[numbers[0]], timelines[numbers[1]]


def _text(comparison: Comparison, items: list[int] | None, redactor: Redactor) -> str:
    lines = [*_scores(comparison), *_alone(comparison)]
    outcomes = ", ".join(f"{count} {outcome}" for outcome, count in comparison.outcomes.items())
    judged = f" (by {comparison.first.metric}, then f1)"
    lines.append(f"{count_of(len(comparison.items), 'item')} in both: {outcomes}{judged if comparison.items else ''}")
    for pairs, name in zip(comparison.lonely, "AB", strict=True):
        if pairs:
            lines.append(f"only in {name}: {count_of(len(pairs), 'item')}")
    shown = [pair for pair in comparison.items if _is_shown(pair, items)]
    for pair in shown if items is not None else shown[:_SHOWN]:
        lines += ["", *_pair(pair, redactor)]
    if items is None and len(shown) > _SHOWN:
        lines += ["", f"and {len(shown) - _SHOWN} more that differ (--items N,M shows others)"]
    return "\n".join(lines)


def _is_shown(pair: ItemPair, items: list[int] | None) -> bool:
    return pair.first.item in items if items is not None else pair.parting is not None or pair.outcome != "same"


def _scores(comparison: Comparison) -> list[str]:
    if not comparison.scores:
        return []
    width = max(len(score.name) for score in comparison.scores)
    lines = [f"{'':<{width}}       A       B  difference       p"]
    for score in comparison.scores:
        change = score.second - score.first
        lines.append(
            f"{score.name:<{width}}  {score.first:.4f}  {score.second:.4f}     {change:+.4f}  {score.tested.p:.4f}"
        )
    tested = comparison.scores[0].tested
    lines.append(f"p: paired permutation test, two-sided, {tested.resamples:,} resamples, seed {tested.seed}")
    return [*lines, ""]


def _alone(comparison: Comparison) -> list[str]:
    lines = []
    for visits, name in ((comparison.only_first, "A"), (comparison.only_second, "B")):
        if visits:
            more = f" and {len(visits) - 8} more" if len(visits) > 8 else ""
            lines.append(f"only {name} has: {', '.join(_at(visit) for visit in visits[:8])}{more}")
    return [one_line(line) for line in lines]


def _pair(pair: ItemPair, redactor: Redactor) -> list[str]:
    def shown(text: str) -> str:
        return one_line(redactor.text(text), _LONG)

    number = f"[{pair.first.item}]" + (f" = [{pair.second.item}]" if pair.second.item != pair.first.item else "")
    lines = [f"{number} {pair.outcome}: {shown(pair.first.question)}"]
    if pair.first.prediction != pair.second.prediction:
        lines += [f"  A: {shown(pair.first.prediction)}", f"  B: {shown(pair.second.prediction)}"]
    if pair.parting is not None:
        parting = pair.parting
        lines.append(f"  they part at {shown(_where(parting))}, in {shown(parting.name)}:")
        lines.append(f"  {shown(marked(parting.pieces))}")
    return lines


def _where(parting: Parting) -> str:
    if parting.first is not None and parting.second is not None:
        return f"{_at(parting.first)} (visit {parting.first.number} of A, {parting.second.number} of B)"
    visit, name = (parting.first, "A") if parting.first is not None else (parting.second, "B")
    return f"{_at(visit)}, which only {name} did for it" if visit is not None else "the end"


def _at(visit: SavedVisit) -> str:
    return f"{visit.place_text} {visit.step}".strip()


def _data(comparison: Comparison, items: list[int] | None) -> dict[str, Any]:
    pairs = [pair for pair in comparison.items if items is None or pair.first.item in items]
    return {
        "first": str(comparison.first.run.file),
        "second": str(comparison.second.run.file),
        "timelines": [comparison.first.run.timeline, comparison.second.run.timeline],
        "metric": comparison.first.metric,
        "scores": [
            {
                "name": score.name,
                "first": score.first,
                "second": score.second,
                "p": score.tested.p,
                "resamples": score.tested.resamples,
                "seed": score.tested.seed,
            }
            for score in comparison.scores
        ],
        "outcomes": comparison.outcomes,
        "only_first": [_at(visit) for visit in comparison.only_first],
        "only_second": [_at(visit) for visit in comparison.only_second],
        "lonely": list(comparison.lonely),
        "items": [_pair_data(pair) for pair in pairs],
    }


def _pair_data(pair: ItemPair) -> dict[str, Any]:
    parting = pair.parting
    return {
        "item": pair.first.item,
        "item_of_second": pair.second.item,
        "question": pair.first.question,
        "outcome": pair.outcome,
        "predictions": [pair.first.prediction, pair.second.prediction],
        "scores": [dict(pair.first.scores), dict(pair.second.scores)],
        "parting": None
        if parting is None
        else {
            "visits": [visit.number if visit is not None else None for visit in (parting.first, parting.second)],
            "where": _where(parting),
            "variable": parting.name,
            "texts": list(parting.texts),
        },
    }
