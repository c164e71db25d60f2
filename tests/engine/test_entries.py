"""Lists in pieces: what two versions share, and what counts as the same."""

from __future__ import annotations

import random

import pytest

from workbench.engine.entries import Entries, differing, is_same, kept_form


def _texts(count: int, mark: str = "") -> list[str]:
    return [f"{mark}entry {n}" for n in range(count)]


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 128, 1000])
def test_a_list_comes_back_as_it_was(count: int) -> None:
    entries = Entries.of(_texts(count))
    assert entries.to_list() == _texts(count)
    assert len(entries) == count
    assert [entries[n] for n in range(count)] == _texts(count)


def test_equal_entries_are_not_kept_twice() -> None:
    first = kept_form(_texts(1000))
    changed = _texts(1000)
    changed[500] = "other"
    second = kept_form(changed, first)
    assert differing(first, second) == [500]
    assert second[0] is first[0]
    assert first[500] == "entry 500"


def test_a_list_of_another_length_shares_nothing() -> None:
    first = kept_form(_texts(1000))
    assert kept_form(_texts(999), first).to_list() == _texts(999)


def test_random_changes() -> None:
    choose = random.Random(1)
    plain = _texts(300)
    kept = Entries.of(plain)
    for _ in range(200):
        changes = {choose.randrange(300): str(choose.random()) for _ in range(choose.randrange(5))}
        plain = [changes.get(n, entry) for n, entry in enumerate(plain)]
        after = kept.with_entries(changes) if choose.random() < 0.5 else Entries.of(plain, kept)
        assert after.to_list() == plain
        assert set(differing(kept, after)) <= set(changes)
        kept = after


@pytest.mark.parametrize(
    ("old", "new"),
    [(1, 1.0), (1, True), (0.0, -0.0), (None, False), ([1], [1.0]), ({"a": 1, "b": 2}, {"b": 2, "a": 1}), ("a", "b")],
)
def test_what_only_looks_equal_is_not_the_same(old: object, new: object) -> None:
    assert not is_same(old, new)


@pytest.mark.parametrize("value", [1, 1.5, "a", True, [1, ["x"]], {"a": {"b": [None]}}])
def test_what_is_the_same(value: object) -> None:
    import json

    assert is_same(value, json.loads(json.dumps(value)))


def test_a_value_nested_without_end_is_kept_as_it_is() -> None:
    def deep() -> list[object]:
        value: list[object] = []
        for _ in range(100_000):
            value = [value]
        return value

    first = kept_form([deep()] * 200)
    assert len(kept_form([deep()] * 200, first)) == 200
