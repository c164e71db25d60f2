"""What the pipelines of the literature say of themselves is there, in three lines, and true."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from tests.scripted.knowledge import DATA, ROOT, questions, records
from tests.scripted.methods import METHODS
from tests.scripted.techniques import TECHNIQUES
from workbench.pipeline.model import walk
from workbench.pipeline.reader import read_pipeline

_PATH = re.compile(r"\b\d+(?:\.[a-z0-9]+)+\b|(?<=step )\d+")


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_pipelines", ROOT / "docs" / "make_pipelines.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_what_the_pipelines_say(maker: ModuleType) -> None:
    assert maker.page() == maker.README.read_text(encoding="utf-8"), "run: uv run python docs/make_pipelines.py"


@pytest.mark.parametrize("name", [*METHODS, *TECHNIQUES])
def test_a_pipeline_says_what_it_is_in_three_lines(name: str, maker: ModuleType) -> None:
    file = ROOT / "pipelines" / f"{name}.yaml"
    head = maker.described(file)
    assert len(head) == 3
    assert "Look at: " in " ".join(head)
    paths = {step.path for step in walk(read_pipeline(file).pipeline.steps)}
    assert set(_PATH.findall(" ".join(head))) <= paths


def test_questions_are_answered_by_the_passages_they_name() -> None:
    for known in questions().values():
        wanted = known.choices["ABCD".index(known.answer)] if known.choices else known.answer
        if known.facts and known.facts[0].id != "manual-0-0":
            assert any(wanted.removeprefix("in ") in fact.contents for fact in known.facts), known.question
            assert not any(known.answered_by(fact.contents) for fact in known.facts) or len(known.facts) == 1


@pytest.mark.parametrize("file", sorted(DATA.glob("*questions*.jsonl")), ids=lambda file: file.stem)
def test_there_are_ten_questions(file: Path) -> None:
    assert len(records(file.name)) >= 10
