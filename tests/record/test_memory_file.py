"""The memory file: complete at any moment, never over another, and nothing in it that JSON does not know."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

from workbench.engine.pool import Variable
from workbench.engine.values import UNSET, Message
from workbench.engine.visit import Visit
from workbench.pipeline.parameters import ParameterSet, ParameterValue
from workbench.record.memory_file import MemoryFile, benchmark_name

NOON = datetime(2026, 1, 2, 12, 0, 0)


def visit(number: int, **saved: object) -> Visit:
    variables = {name: Variable(name, value, number) for name, value in saved.items()}
    return Visit(number, str(number), "a.b", "finished", saved=variables)


def memory(folder: Path, **options: object) -> MemoryFile:
    return MemoryFile(folder, "rag", "nq", now=lambda: NOON, **options)  # type: ignore[arg-type]


async def test_every_visit_is_on_disk_before_the_next(tmp_path: Path) -> None:
    record = memory(tmp_path)
    for number in (1, 2, 3):
        await record.finished(visit(number, q_ls=["a"]))
        (growing,) = tmp_path.glob(".*growing")
        assert len(json.loads(growing.read_text())) == number
    path = await record.complete()
    assert path == str(tmp_path / "memory_nq_rag_20260102_120000.json")
    await record.close()
    assert [p.name for p in tmp_path.iterdir()] == ["memory_nq_rag_20260102_120000.json"]


async def test_it_can_be_completed_and_go_on(tmp_path: Path) -> None:
    record = memory(tmp_path)
    await record.finished(visit(1))
    first = await record.complete()
    await record.finished(visit(2))
    assert await record.complete() == first
    assert first is not None
    assert len(json.loads(Path(first).read_text())) == 2


async def test_it_is_never_written_over_another_file(tmp_path: Path) -> None:
    paths = []
    for _ in range(3):
        record = memory(tmp_path)
        await record.finished(visit(1))
        paths.append(Path(await record.complete() or "").name)
    assert [path.removeprefix("memory_nq_rag_20260102_120000") for path in paths] == [".json", "_2.json", "_3.json"]


async def test_what_json_does_not_know(tmp_path: Path) -> None:
    warnings: list[str] = []
    record = memory(tmp_path, warn=warnings.append)
    message = Message(role="user", content={"type": "text", "text": "a prompt"})
    values = [UNSET, message, float("nan"), float("-inf"), 1.5, {"data": "kept", "branch_state": 1}, "字\ud800"]
    await record.finished(visit(1, x=values))
    path = await record.complete()
    (entry,) = json.loads(Path(path or "").read_bytes().decode("utf-8", "surrogatepass"))
    assert entry["memory"]["memory_x"][:6] == [
        "<UNSET>", "a prompt", "NaN", "-Infinity", 1.5, {"data": "kept", "branch_state": 1},
    ]  # fmt: skip
    assert len(warnings) == 2


async def test_secrets_are_masked(tmp_path: Path) -> None:
    record = memory(tmp_path, mask=lambda text: text.replace("sk-secret", "sk-…"))
    await record.finished(visit(1, x=["key sk-secret"], y={"inner": "sk-secret"}))
    assert "sk-secret" not in Path(await record.complete() or "").read_text()


def test_the_benchmark_part_of_the_name() -> None:
    def name(value: object) -> str:
        return benchmark_name(ParameterSet({"benchmark": {"benchmark": ParameterValue(value, "")}}))

    assert name({"name": "nq"}) == "nq"
    assert name({"name": "a/b ../c"}) == "a_b_.._c"
    assert name(None) == name({"path": "x"}) == benchmark_name(ParameterSet()) == ""
