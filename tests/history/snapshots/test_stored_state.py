"""Single paths in stored states are found without decoding the rest, whatever their names are."""

import random
from pathlib import Path

import pytest

from kimi_tui.history.snapshots.attribution import USER
from kimi_tui.history.snapshots.chunked_json import MAX_ITEMS
from kimi_tui.history.snapshots.entry import Entry
from kimi_tui.history.snapshots.manifest import ManifestLog

NAMES = [
    "a",
    'a"',
    "a\\",
    '"a":[',
    'x,"a',
    'x{"a',
    "a,",
    "é",
    "\udcff",
    "a\n",
    '{"whole":{"a',
    '\\","a',
    "a/a",
]


@pytest.mark.parametrize("count", [0, 10, MAX_ITEMS + 1])
def test_each_path_has_its_own_entry(tmp_path: Path, count: int) -> None:
    rng = random.Random(count)
    state = {f"file{number}": Entry("file", 0o644, number, f"{number:x}") for number in range(count)}
    state |= {name: Entry("link", 0o777, at, rng.choice(NAMES)) for at, name in enumerate(NAMES) if at % 3}
    shuffled = dict(sorted(state.items(), key=lambda _: rng.random()))
    log = ManifestLog(tmp_path, "s")
    first = log.append(None, USER, shuffled, {})
    record, whole = log.read_state(first)
    assert whole is not None
    assert (record.id, record.parent, record.whole) == (first, None, None)
    for path in (*NAMES, *rng.sample(list(state), min(20, len(state))), "missing"):
        assert whole.find([path]) == ({path: state[path]} if path in state else {})
        assert whole.find((path, "missing")) == whole.find([path])
    assert whole.find(state.keys()) == state
    assert whole.find(["a\\", "missing"]) == {path: state[path] for path in ["a\\"] if path in state}


def test_a_record_without_a_whole_state_has_none(tmp_path: Path) -> None:
    log = ManifestLog(tmp_path, "s")
    entries = {"a": Entry("file", 0o644, 1, "1")}
    first = log.append(None, USER, entries, {})
    second = log.append(first, USER, {"a": None}, entries)
    record, whole = log.read_state(second)
    assert (record, whole) == (log.read(second), None)
