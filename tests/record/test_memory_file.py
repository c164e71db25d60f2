"""The memory file: complete whenever it is there, never over another, and nothing in it that JSON does not know."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import pytest

from workbench.engine.cursor import Cursor
from workbench.engine.pool import Variable, VariablePool
from workbench.engine.timeline import Checkpoint, Moment, Timeline
from workbench.engine.values import UNSET, Message
from workbench.engine.visit import Visit
from workbench.pipeline.parameters import ParameterSet, ParameterValue
from workbench.record.memory_file import MemoryFile, benchmark_name

NOON = datetime(2026, 1, 2, 12, 0, 0)


def visit(number: int, **saved: object) -> Visit:
    variables = {name: Variable(name, value, number) for name, value in saved.items()}
    return Visit(number, str(number), "a.b", "finished", saved=variables)


def timeline(number: int, *visits: Visit) -> Timeline:
    before, after = Checkpoint(Cursor(), VariablePool()), VariablePool()
    return Timeline(number, moments=[Moment(before, one, after) for one in visits])


def memory(folder: Path, **options: object) -> MemoryFile:
    return MemoryFile(folder, "rag", "nq", now=lambda: NOON, **options)  # type: ignore[arg-type]


async def test_each_timeline_has_one_file(tmp_path: Path) -> None:
    record = memory(tmp_path)
    first = await record.write(timeline(1, visit(1)))
    fork = await record.write(timeline(2, visit(1), visit(2)))
    assert await record.write(timeline(1, visit(1), visit(3), visit(4))) == first
    assert first == str(tmp_path / "memory_nq_rag_20260102_120000.json")
    assert (len(json.loads(Path(first).read_text())), len(json.loads(Path(fork).read_text()))) == (3, 2)
    assert len(list(tmp_path.iterdir())) == 2, "nothing temporary is left"


async def test_it_is_never_written_over_another_file(tmp_path: Path) -> None:
    paths = [Path(await memory(tmp_path).write(timeline(1, visit(1)))).name for _ in range(3)]
    assert [path.removeprefix("memory_nq_rag_20260102_120000") for path in paths] == [".json", "_2.json", "_3.json"]


async def test_what_json_does_not_know(tmp_path: Path) -> None:
    warnings: list[str] = []
    message = Message(role="user", content={"type": "text", "text": "a prompt"})
    values = [UNSET, message, float("nan"), float("-inf"), 1.5, {"data": "kept", "branch_state": 1}, "字\ud800"]
    path = await memory(tmp_path, warn=warnings.append).write(timeline(1, visit(1, x=values)))
    (entry,) = json.loads(Path(path).read_bytes().decode("utf-8", "surrogatepass"))
    assert entry["memory"]["memory_x"][:6] == [
        "<UNSET>", "a prompt", "NaN", "-Infinity", 1.5, {"data": "kept", "branch_state": 1},
    ]  # fmt: skip
    assert len(warnings) == 2


async def test_secrets_are_masked(tmp_path: Path) -> None:
    record = memory(tmp_path, mask=lambda text: text.replace("sk-secret", "sk-…"))
    path = await record.write(timeline(1, visit(1, x=["key sk-secret"], y={"inner": "sk-secret"})))
    assert "sk-secret" not in Path(path).read_text()


def test_a_folder_that_can_not_be_written_to_is_said_before_anything_runs(tmp_path: Path) -> None:
    (tmp_path / "output").write_text("a file")
    with pytest.raises(OSError, match=r"the folder .*output can't be written to"):
        memory(tmp_path / "output").check()


def test_the_benchmark_part_of_the_name() -> None:
    def name(value: object) -> str:
        return benchmark_name(ParameterSet({"benchmark": {"benchmark": ParameterValue(value, "")}}))

    assert name({"name": "nq"}) == "nq"
    assert name({"name": "a/b ../c"}) == "a_b_.._c"
    assert name(None) == name({"path": "x"}) == benchmark_name(ParameterSet()) == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a disk that is always full is Linux's")
async def test_a_full_disk_leaves_nothing_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = MemoryFile(tmp_path, "toy", "p")

    def onto_full_disk(path: Path, content: bytes) -> int:
        with open("/dev/full", "wb", buffering=0) as full:
            return full.write(content)

    monkeypatch.setattr(Path, "write_bytes", onto_full_disk)
    with pytest.raises(OSError, match="No space left"):
        await file.write(Timeline())
    assert list(tmp_path.iterdir()) == []
    monkeypatch.undo()
    written = await file.write(Timeline())
    assert list(tmp_path.iterdir()) == [Path(written)]
