"""A visit as a test: a small pytest file that calls the tool of a step again, through its real server."""

from __future__ import annotations

import pprint
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.cases.flow import Flow
from workbench.cases.opening import OpenedRun
from workbench.cases.saved_run import SavedVisit
from workbench.pipeline.binding import Binding

_TEMPLATE = '''\
"""Visit {number} of {file}: {place}, as it was recorded. Its tool must still give the same."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from workbench.engine.ports import Call
{imports}from workbench.mcp.hub import ServerHub
from workbench.pipeline.prepare import prepare

PIPELINE = Path({pipeline!r})
INPUTS: dict[str, Any] = {inputs}
OUTPUTS: dict[str, Any] = {outputs}


def test_{name}() -> None:
    assert asyncio.run(outputs()) == OUTPUTS


async def outputs() -> dict[str, Any]:
    """What the tool gives for the recorded inputs, under the names that the step keeps it by."""
    prepared = prepare(PIPELINE, checks=False)
    alias, tool = {alias!r}, {tool!r}
    hub = ServerHub({{alias: prepared.sources[alias]}}, lambda event: None)
    try:
        hub.start([alias]){before}
        result = await hub.call(Call(alias, tool, {kind!r}, INPUTS, visit=1, items={items!r}))
    finally:
        await hub.close()
    {answer}
'''
_BEFORE = """
        await hub.call(Call(alias, {tool!r}, {kind!r}, {inputs}, visit=1))  # visit {number}: it loads what is needed"""


class NoTest(Exception):
    """No test can be made of the visit; ``str()`` says why, and what could be done."""


def test_of_visit(opened: OpenedRun, number: int) -> str:
    """The text of the file. Raises ``NoTest``."""
    run = opened.run
    if run.timeline is None:
        raise NoTest("a memory file does not hold what the tool was given; name the session file (sessions/*.ragwb)")
    known = opened.pipeline
    if known is None:
        raise NoTest("the pipeline of the session can't be read, so its servers are not known (--pipeline FILE)")
    visit = next((v for v in run.visits if v.recorded is not None and v.recorded.number == number), None)
    if visit is None:
        numbers = [v.recorded.number for v in run.visits if v.recorded is not None]
        raise NoTest(f"the run has no visit {number}; its visits are {min(numbers)} to {max(numbers)}" if numbers else
                     "the run has no visits")  # fmt: skip
    return _test(opened, known.pipeline.file, visit)


def _test(opened: OpenedRun, pipeline: Path, visit: SavedVisit) -> str:
    flow = Flow(opened.run, opened.pipeline)
    binding = flow.binding(visit)
    recorded = visit.recorded
    if binding is None or recorded is None:
        raise NoTest(f"step {visit.place_text} is not {visit.step} in {pipeline} any more")
    if binding.is_router:
        raise NoTest(f"{visit.step} is a router: what it returned is not kept, only the items' branches")
    items = recorded.items
    kept = {name: _part(opened, name, value, items) for name, value in visit.saved.items()}
    return _TEMPLATE.format(
        number=recorded.number,
        file=opened.run.file.name,
        place=f"step {visit.place_text} {visit.step}",
        pipeline=str(pipeline.resolve()),
        inputs=_literal(dict(recorded.inputs)),
        outputs=_literal(kept),
        name=re.sub(r"\W+", "_", f"{visit.step}_visit_{recorded.number}"),
        alias=binding.step.alias,
        tool=binding.step.tool,
        before="".join(_before(flow, visit)),
        kind=binding.declaration.kind,
        items=items,
        imports="from workbench.engine.values import Message\n" if binding.declaration.kind == "prompt" else "",
        answer=_answer(kept, binding),
    )


def _answer(kept: Mapping[str, Any], binding: Binding) -> str:
    """The line that gives what came back under the names of the step."""
    if binding.declaration.kind == "prompt":
        return f"return {{{next(iter(kept), '')!r}: [Message(message).text for message in result.value]}}"
    if binding.is_bare:
        return f"return {{{next(iter(kept), '')!r}: result.value}}"
    targets = {output.declared: output.target for output in binding.outputs if output.target in kept}
    return f"return {{kept: result.value[given] for given, kept in {targets}.items()}}"


def _before(flow: Flow, visit: SavedVisit) -> list[str]:
    """The calls that bring the server to where it stood: its earlier calls of tools without outputs."""
    alias = visit.step.partition(".")[0]
    found = []
    for earlier in flow.run.visits[: visit.number - 1]:
        binding = flow.binding(earlier)
        if binding is not None and binding.step.alias == alias and not binding.outputs and earlier.recorded is not None:
            inputs = pprint.pformat(dict(earlier.recorded.inputs), sort_dicts=False, width=10_000)
            found.append(
                _BEFORE.format(
                    tool=binding.step.tool, kind=binding.declaration.kind, inputs=inputs, number=earlier.recorded.number
                )
            )
    return found


def _part(opened: OpenedRun, name: str, value: Any, items: tuple[int, ...] | None) -> Any:
    """What the visit gave of an item list: the entries of its items."""
    if items is None or not opened.run.is_item_list(value, name):
        return value
    return [value[item] for item in items]


def _literal(value: Mapping[str, Any]) -> str:
    return pprint.pformat(value, sort_dicts=False, width=110)
