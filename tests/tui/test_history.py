"""Input history on disk, and walking through it."""

import json
from pathlib import Path

import pytest

from kimi_tui.base.paths import work_dir_key
from kimi_tui.tui.prompt.history import HistoryWalk, InputHistory


@pytest.fixture
def work_dir(tmp_path: Path) -> Path:
    return tmp_path / "shop"


def opened(tmp_path: Path, work_dir: Path) -> InputHistory:
    history = InputHistory(share_dir=tmp_path, work_dir=work_dir)
    history.load()
    return history


def file_of(tmp_path: Path, work_dir: Path) -> Path:
    return tmp_path / "user-history" / f"{work_dir_key(work_dir)}.jsonl"


def test_what_was_sent_is_there_next_time(tmp_path: Path, work_dir: Path) -> None:
    history = opened(tmp_path, work_dir)
    history.append("first")
    history.append("second\nline 你好")
    assert opened(tmp_path, work_dir).entries == ("first", "second\nline 你好")


def test_another_work_dir_has_a_history_of_its_own(tmp_path: Path, work_dir: Path) -> None:
    opened(tmp_path, work_dir).append("here")
    assert opened(tmp_path, tmp_path / "other").entries == ()


def test_the_file_is_the_owners_alone_and_holds_one_object_a_line(tmp_path: Path, work_dir: Path) -> None:
    opened(tmp_path, work_dir).append("a\nb")
    file = file_of(tmp_path, work_dir)
    assert file.stat().st_mode & 0o777 == 0o600
    assert [json.loads(line) for line in file.read_text("utf-8").splitlines()] == [{"content": "a\nb"}]


def test_each_prompt_is_listed_once_at_its_latest_place(tmp_path: Path, work_dir: Path) -> None:
    history = opened(tmp_path, work_dir)
    for text in ("a", "b", "a", "a"):
        history.append(text)
    assert history.entries == ("b", "a")
    assert opened(tmp_path, work_dir).entries == ("b", "a")


def test_damaged_lines_cost_themselves_only(tmp_path: Path, work_dir: Path) -> None:
    file = file_of(tmp_path, work_dir)
    file.parent.mkdir(parents=True)
    file.write_bytes(b'{"content": "good"}\n{"content": \n\xff\xfe\n[1]\n{"content": 5}\n{"content": "cut of')
    history = opened(tmp_path, work_dir)
    assert history.entries == ("good",)
    history.append("next")
    assert opened(tmp_path, work_dir).entries == ("good", "next")


def test_what_is_sent_before_the_file_was_read_is_not_lost(tmp_path: Path, work_dir: Path) -> None:
    opened(tmp_path, work_dir).append("old")
    history = InputHistory(share_dir=tmp_path, work_dir=work_dir)
    history.append("eager")
    history.load()
    assert history.entries == ("old", "eager")


def test_a_folder_that_cannot_be_written_keeps_the_history_in_memory(tmp_path: Path, work_dir: Path) -> None:
    (tmp_path / "user-history").write_text("a file in the way")
    history = opened(tmp_path, work_dir)
    with pytest.raises(OSError, match="user-history"):
        history.append("kept")
    assert history.entries == ("kept",)


def test_a_walk_goes_back_and_returns_to_the_draft(tmp_path: Path, work_dir: Path) -> None:
    history = opened(tmp_path, work_dir)
    history.append("old")
    history.append("new")
    walk = HistoryWalk(history)
    assert walk.older("my draft") == "new"
    assert walk.older("new") == "old"
    assert walk.older("old") is None
    assert walk.newer("old") == "new"
    assert walk.newer("new") == "my draft"
    assert walk.newer("my draft") is None


def test_editing_what_a_walk_showed_begins_a_new_walk_with_it_as_the_draft(
    tmp_path: Path, work_dir: Path
) -> None:
    history = opened(tmp_path, work_dir)
    history.append("old")
    history.append("new")
    walk = HistoryWalk(history)
    walk.older("")
    assert walk.newer("new, changed") is None
    assert walk.older("new, changed") == "new"
    assert walk.newer("new") == "new, changed"
