"""What a run prints when it is over: scores, two systems side by side, or what its last step gave."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.cli.main import main
from workbench.record.memory_file import MemoryFile

PIPELINES = Path(__file__).parents[2] / "pipelines"


def printed(capsys: pytest.CaptureFixture[str], name: str, *options: str) -> list[str]:
    code = main(["run", str(PIPELINES / f"{name}.yaml"), "--quiet", *options])
    out, err = capsys.readouterr()
    assert code == 0, err
    return out.splitlines()


def test_two_systems_stand_side_by_side(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = printed(capsys, "eval_trec_pvalue", "--set", "evaluation.n_resamples=100")
    assert lines[0].split() == ["old", "new", "difference", "p"]
    rows = {line.split()[0]: list(map(float, line.split()[1:])) for line in lines[1:]}
    old, new, difference, p = rows["mrr"]
    assert difference == pytest.approx(new - old, abs=0.001)
    assert 0 < p <= 1


def test_a_long_list_is_shown_in_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    keys = "benchmark.benchmark.key_map={q_ls: question}"
    path = "benchmark.benchmark.path=pipelines/data/manual_questions.jsonl"
    lines = printed(capsys, "load_data", "--set", path, "--set", keys, "--set", "benchmark.benchmark.limit=-1")
    assert lines[0] == "q_ls:"
    assert len(lines) == 1 + 20 + 1
    assert lines[-1] == "  and 43 more, in the memory file"


def test_a_memory_file_that_can_not_be_written_is_no_success(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def full(self: MemoryFile, timeline: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(MemoryFile, "write", full)
    assert main(["run", str(PIPELINES / "sayhello.yaml"), "--quiet"]) == 1
    assert "the memory file can't be written: [Errno 28] No space left on device" in capsys.readouterr().err


def test_what_tools_say_is_shown_where_they_give_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/mine.txt").write_text("One sentence. Another one.", encoding="utf-8")
    shown = "\n".join(printed(capsys, "corpus_chunk", "--set", "corpus.parse_file_path=docs"))
    assert '"used": 1' in shown, "the folder that was typed is the one the user is in"
    assert '"chunks": 1' in shown


ODD = """\
from workbench.mcp.kit import ToolServer
app = ToolServer("odd")
@app.tool(output="->found", whole=("found",))
def compare() -> dict:
    well = {"old": 0.1, "new": 0.2, "difference": 0.1, "p": 0.5, "intervals": {"old": [0, 1]}}
    odd = {"words": {**well, "p": "high"}, "ends": {**well, "intervals": {"old": [1]}}}
    return {"found": {"rec\\x1b[31mall": well, **odd}}
app.run()
"""


def test_what_only_looks_like_a_comparison_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "servers/odd/src/odd.py"
    script.parent.mkdir(parents=True)
    script.write_text(ODD, encoding="utf-8")
    (tmp_path / "p.yaml").write_text("servers: {odd: servers/odd}\npipeline: [odd.compare]\n", encoding="utf-8")
    assert main(["run", "p.yaml", "--quiet", "--yes"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 + 1
    assert "0.100 [0.000, 1.000]" in lines[1]
    assert "\x1b" not in lines[1]
