"""Drafts that outlive their process."""

import os
from pathlib import Path

from kimi_tui.tui.prompt.drafts import Draft, DraftStore


def store(tmp_path: Path, pid: int) -> DraftStore:
    return DraftStore(share_dir=tmp_path, work_dir=tmp_path / "shop", pid=pid)


def test_a_draft_of_a_dead_process_is_offered_once(tmp_path: Path, dead_pid: int) -> None:
    draft = Draft("half a thou [paste #1 +20 lines]", {1: "x\n" * 20})
    store(tmp_path, dead_pid).save(draft)
    mine = store(tmp_path, os.getpid())
    orphan = mine.orphan()
    assert orphan is not None
    assert orphan.draft == draft
    assert mine.claim(orphan)
    assert mine.orphan() is None
    assert not store(tmp_path, os.getppid()).claim(orphan)


def test_one_of_a_dead_process_of_the_same_number_is_offered_too(tmp_path: Path) -> None:
    """In a container a program has the same number each time."""

    def run(name: str) -> DraftStore:
        return DraftStore(share_dir=tmp_path, work_dir=tmp_path / "shop", run=name)

    run("first").save(Draft("half a thought"))
    mine = run("second")
    mine.save(Draft("typed at once"))
    orphan = mine.orphan()
    assert orphan is not None
    assert orphan.draft == Draft("half a thought")
    assert mine.claim(orphan)
    assert mine.orphan() is None


def test_what_was_taken_belongs_to_the_new_process(tmp_path: Path, dead_pid: int) -> None:
    store(tmp_path, dead_pid).save(Draft("words"))
    mine = store(tmp_path, os.getpid())
    orphan = mine.orphan()
    assert orphan is not None
    assert mine.claim(orphan)
    mine.save(Draft(""))
    assert list((tmp_path / "drafts").iterdir()) == []


def test_a_draft_of_a_living_process_is_its_own(tmp_path: Path) -> None:
    store(tmp_path, os.getppid()).save(Draft("theirs"))
    assert store(tmp_path, os.getpid()).orphan() is None


def test_a_draft_that_nobody_claims_waits(tmp_path: Path, dead_pid: int) -> None:
    store(tmp_path, dead_pid).save(Draft("words"))
    assert store(tmp_path, os.getpid()).orphan() is not None
    mine = store(tmp_path, os.getpid())
    mine.save(Draft("newer"))
    orphan = mine.orphan()
    assert orphan is not None
    assert orphan.draft == Draft("words")


def test_a_thread_that_comes_late_puts_nothing_old_on_the_disk(tmp_path: Path, dead_pid: int) -> None:
    mine = store(tmp_path, dead_pid)
    mine.hold(Draft("old"))
    mine.save(Draft("new"))
    mine.write()  # what a thread was to do for the old one
    orphan = store(tmp_path, os.getpid()).orphan()
    assert orphan is not None
    assert orphan.draft == Draft("new")


def test_an_empty_draft_leaves_no_file(tmp_path: Path) -> None:
    mine = store(tmp_path, os.getpid())
    mine.save(Draft("something"))
    mine.save(Draft("  \n"))
    assert list((tmp_path / "drafts").iterdir()) == []


def test_the_file_is_the_owners_alone(tmp_path: Path) -> None:
    store(tmp_path, 1).save(Draft("secret"))
    (file,) = (tmp_path / "drafts").iterdir()
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_damaged_draft_is_passed_over(tmp_path: Path, dead_pid: int) -> None:
    store(tmp_path, dead_pid).save(Draft("fine"))
    (file,) = (tmp_path / "drafts").iterdir()
    file.write_text('{"text": ')
    assert store(tmp_path, os.getpid()).orphan() is None
