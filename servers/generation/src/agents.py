"""A turn of many agents at once: each model is asked until it has named a tool or an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agent import Agent, Rules
from answer import Answer, GenerationError
from answering import Model, Outcome
from backend import Wish
from labels import item_labels, listed

from workbench.mcp.kit import MarkedResult


async def take_turns(
    model: Model, states: Sequence[Mapping[str, Any]], observations: Sequence[Any], rules: Rules
) -> MarkedResult:
    """The outputs of ``agent_generate``. Items whose model failed are named, the others kept.

    Raises ``GenerationError`` where no item went well, and for settings that the backend can't follow.
    """
    if rules.style == "native" and not model.backend.takes_tools:
        raise GenerationError(
            "this backend has no tool calls of its own: set generation.agent_style to text, or "
            "generation.backend to openai or ollama"
        )
    labels = item_labels(len(states))
    agents = [Agent.of(state) for state in states]
    for agent, observation in zip(agents, observations, strict=True):
        agent.hear(observation)
    failed: dict[int, str] = {}
    remarks: dict[str, list[str]] = {}
    warnings: dict[str, None] = {}
    while asking := [p for p, agent in enumerate(agents) if p not in failed and agent.must_ask(rules)]:
        for place, outcome in (await _outcomes(model, agents, asking, labels, rules)).items():
            if isinstance(outcome, Answer):
                agents[place].took(outcome, rules)
                for remark in agents[place].remarks:
                    remarks.setdefault(remark, []).append(labels[place])
            else:
                failed[place] = str(outcome)
        warnings |= dict.fromkeys(model.warnings)
    return MarkedResult(
        {
            "agent_ls": [agent.state() for agent in agents],
            "action_ls": [agent.action for agent in agents],
            "action_input_ls": [agent.input for agent in agents],
            "ans_ls": [agent.answer or "" for agent in agents],
        },
        failed=failed,
        warnings=[*_warnings(agents, labels, remarks, rules), *warnings],
    )


async def _outcomes(
    model: Model, agents: Sequence[Agent], asking: Sequence[int], labels: Sequence[str], rules: Rules
) -> dict[int, Outcome]:
    """What the models of some agents said, by place: those at their last turn are offered no tools."""
    outcomes: dict[int, Outcome] = {}
    for is_last in (False, True):
        group = [place for place in asking if agents[place].is_at_last_turn(rules) is is_last]
        if not group:
            continue
        tools = tuple(rules.tools.values()) if rules.style == "native" and not is_last else ()
        wish = Wish(rules.schema(is_last=is_last), tools)
        try:
            asked = [agents[place].asked(rules) for place in group]
            said = await model.answers(asked, [labels[place] for place in group], wish)
        except GenerationError as error:
            if error.stops_all or len(group) == len(agents):
                raise
            said = [error] * len(group)
        outcomes |= dict(zip(group, said, strict=True))
    return outcomes


def _warnings(
    agents: Sequence[Agent], labels: Sequence[str], remarks: Mapping[str, list[str]], rules: Rules
) -> list[str]:
    said = [f"{remark}: {listed(which)}" for remark, which in remarks.items()]
    for budget in ("steps", "tokens"):
        spent = [label for label, agent in zip(labels, agents, strict=True) if agent.ended_by == budget]
        if spent:
            words = f"without an answer after {getattr(rules, budget)} {budget}, the last that was said is taken"
            said.append(f"{words}: {listed(spent)}")
    if rules.tokens is not None and any(agent.turns and not agent.tokens for agent in agents):
        said.append("the model's server does not count tokens: agent_tokens bounds nothing")
    return said
