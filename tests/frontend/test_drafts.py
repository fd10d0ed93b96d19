"""Drafts that survive their process."""

import os
from pathlib import Path

from kimi_tui.frontend.drafts import Draft, DraftStore


def store(tmp_path: Path, pid: int) -> DraftStore:
    return DraftStore(data_dir=tmp_path, work_dir=tmp_path / "shop", pid=pid)


def test_a_draft_of_a_dead_process_is_found_once(tmp_path: Path, dead_pid: int) -> None:
    draft = Draft("half a thou [paste #1 +20 lines]", {1: "x\n" * 20})
    store(tmp_path, dead_pid).save(draft)
    mine = store(tmp_path, os.getpid())
    orphan = mine.find_orphan()
    assert orphan is not None
    assert orphan.draft == draft
    assert mine.claim(orphan)
    assert mine.find_orphan() is None
    assert not store(tmp_path, os.getppid()).claim(orphan)


def test_a_draft_of_a_dead_process_with_the_same_pid_is_found(tmp_path: Path) -> None:
    """In a container, a program has the same PID every time."""

    def run(name: str) -> DraftStore:
        return DraftStore(data_dir=tmp_path, work_dir=tmp_path / "shop", run=name)

    run("first").save(Draft("half a thought"))
    mine = run("second")
    mine.save(Draft("typed immediately"))
    orphan = mine.find_orphan()
    assert orphan is not None
    assert orphan.draft == Draft("half a thought")
    assert mine.claim(orphan)
    assert mine.find_orphan() is None


def test_a_claimed_draft_belongs_to_the_new_process(tmp_path: Path, dead_pid: int) -> None:
    store(tmp_path, dead_pid).save(Draft("words"))
    mine = store(tmp_path, os.getpid())
    orphan = mine.find_orphan()
    assert orphan is not None
    assert mine.claim(orphan)
    mine.save(Draft(""))
    assert list((tmp_path / "drafts").iterdir()) == []


def test_a_draft_of_a_running_process_is_not_found(tmp_path: Path) -> None:
    store(tmp_path, os.getppid()).save(Draft("theirs"))
    assert store(tmp_path, os.getpid()).find_orphan() is None


def test_an_unclaimed_draft_is_kept(tmp_path: Path, dead_pid: int) -> None:
    store(tmp_path, dead_pid).save(Draft("words"))
    assert store(tmp_path, os.getpid()).find_orphan() is not None
    mine = store(tmp_path, os.getpid())
    mine.save(Draft("newer"))
    orphan = mine.find_orphan()
    assert orphan is not None
    assert orphan.draft == Draft("words")


def test_a_delayed_write_does_not_restore_an_old_draft(tmp_path: Path, dead_pid: int) -> None:
    mine = store(tmp_path, dead_pid)
    mine.set_draft(Draft("old"))
    mine.save(Draft("new"))
    mine.write()  # as a delayed thread does
    orphan = store(tmp_path, os.getpid()).find_orphan()
    assert orphan is not None
    assert orphan.draft == Draft("new")


def test_an_empty_draft_leaves_no_file(tmp_path: Path) -> None:
    mine = store(tmp_path, os.getpid())
    mine.save(Draft("something"))
    mine.save(Draft("  \n"))
    assert list((tmp_path / "drafts").iterdir()) == []


def test_the_file_is_private(tmp_path: Path) -> None:
    store(tmp_path, 1).save(Draft("secret"))
    (file,) = (tmp_path / "drafts").iterdir()
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_damaged_draft_is_ignored(tmp_path: Path, dead_pid: int) -> None:
    store(tmp_path, dead_pid).save(Draft("fine"))
    (file,) = (tmp_path / "drafts").iterdir()
    file.write_text('{"text": ')
    assert store(tmp_path, os.getpid()).find_orphan() is None
