"""Input history on disk, and moving through it."""

import json
from pathlib import Path

import pytest

from kimi_tui.base.paths import work_dir_key
from kimi_tui.frontend.input_history import HistoryCursor, InputHistory


@pytest.fixture
def work_dir(tmp_path: Path) -> Path:
    return tmp_path / "shop"


def open_history(tmp_path: Path, work_dir: Path) -> InputHistory:
    history = InputHistory(data_dir=tmp_path, work_dir=work_dir)
    history.load()
    return history


def history_file(tmp_path: Path, work_dir: Path) -> Path:
    return tmp_path / "user-history" / f"{work_dir_key(work_dir)}.jsonl"


def test_sent_prompts_are_loaded_next_time(tmp_path: Path, work_dir: Path) -> None:
    history = open_history(tmp_path, work_dir)
    history.append("first")
    history.append("second\nline 你好")
    assert open_history(tmp_path, work_dir).entries == ("first", "second\nline 你好")


def test_each_work_dir_has_its_own_history(tmp_path: Path, work_dir: Path) -> None:
    open_history(tmp_path, work_dir).append("here")
    assert open_history(tmp_path, tmp_path / "other").entries == ()


def test_the_file_is_private_and_has_one_object_per_line(tmp_path: Path, work_dir: Path) -> None:
    open_history(tmp_path, work_dir).append("a\nb")
    file = history_file(tmp_path, work_dir)
    assert file.stat().st_mode & 0o777 == 0o600
    assert [json.loads(line) for line in file.read_text("utf-8").splitlines()] == [{"content": "a\nb"}]


def test_duplicate_prompts_are_listed_once_at_their_latest_position(tmp_path: Path, work_dir: Path) -> None:
    history = open_history(tmp_path, work_dir)
    for text in ("a", "b", "a", "a"):
        history.append(text)
    assert history.entries == ("b", "a")
    assert open_history(tmp_path, work_dir).entries == ("b", "a")


def test_damaged_lines_are_skipped(tmp_path: Path, work_dir: Path) -> None:
    file = history_file(tmp_path, work_dir)
    file.parent.mkdir(parents=True)
    file.write_bytes(b'{"content": "good"}\n{"content": \n\xff\xfe\n[1]\n{"content": 5}\n{"content": "cut of')
    history = open_history(tmp_path, work_dir)
    assert history.entries == ("good",)
    history.append("next")
    assert open_history(tmp_path, work_dir).entries == ("good", "next")


def test_prompts_sent_before_loading_are_kept(tmp_path: Path, work_dir: Path) -> None:
    open_history(tmp_path, work_dir).append("old")
    history = InputHistory(data_dir=tmp_path, work_dir=work_dir)
    history.append("eager")
    history.load()
    assert history.entries == ("old", "eager")


def test_the_history_is_kept_in_memory_if_the_folder_is_not_writable(tmp_path: Path, work_dir: Path) -> None:
    (tmp_path / "user-history").write_text("a file in the way")
    history = open_history(tmp_path, work_dir)
    with pytest.raises(OSError, match="user-history"):
        history.append("kept")
    assert history.entries == ("kept",)


def test_the_cursor_moves_through_entries_and_returns_to_the_draft(tmp_path: Path, work_dir: Path) -> None:
    history = open_history(tmp_path, work_dir)
    history.append("old")
    history.append("new")
    cursor = HistoryCursor(history)
    assert cursor.older("my draft") == "new"
    assert cursor.older("new") == "old"
    assert cursor.older("old") is None
    assert cursor.newer("old") == "new"
    assert cursor.newer("new") == "my draft"
    assert cursor.newer("my draft") is None


def test_an_edited_entry_becomes_the_draft(tmp_path: Path, work_dir: Path) -> None:
    history = open_history(tmp_path, work_dir)
    history.append("old")
    history.append("new")
    cursor = HistoryCursor(history)
    cursor.older("")
    assert cursor.newer("new, changed") is None
    assert cursor.older("new, changed") == "new"
    assert cursor.newer("new") == "new, changed"
