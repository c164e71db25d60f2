"""The proof of ``ragwb why``: faults planted in real pipelines are named by stage and step."""

from __future__ import annotations

from pathlib import Path

from tests.cases.faults.planted import FAULTS, UNSEEN
from tests.cases.faults.running import WAYS, run_all, servers

BEYOND_A_MEMORY_FILE = {"an extraction of another answer", "a router that inverts", "a loop that is too short"}
"""Nothing in a memory file alone tells of these: bindings and branches are the pipeline's."""


async def test_planted_faults_are_named(tmp_path: Path) -> None:
    assert len(FAULTS) >= 12
    async with servers(tmp_path) as hub:
        found = await run_all(tmp_path, hub)
    missed = {(named.way, named.fault.name): dict(named.said) for named in found if not named.is_right}
    assert {key: said for key, said in missed.items() if key[0] != WAYS[2]} == {}
    assert {name for _, name in missed} <= BEYOND_A_MEMORY_FILE


async def test_faults_that_no_rule_was_written_for(tmp_path: Path) -> None:
    async with servers(tmp_path) as hub:
        found = await run_all(tmp_path, hub, UNSEEN)
    missed = {named.fault.name for named in found if not named.is_right}
    assert missed <= {"golds from another column"}, "it says that the gold is nowhere in the corpus, which is true"
