"""The index after kills, damage, a full disk, and several processes at once: complete, or built again.

`make faults` kills more often.
"""

import contextlib
import errno
import multiprocessing
import os
import random
import resource
import signal
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.session_search.session_searcher import FILE_NAME, SessionSearcher
from tests.session_search.session_files import SessionFiles
from tests.timeouts import TEST_TIMEOUT_S

ROUNDS = int(os.environ.get("KIMI_TUI_INDEX_KILLS", "6"))
SESSIONS = 4
MESSAGES = 8
FORK = multiprocessing.get_context("fork")


def write_sessions(data_dir: Path, *, words: int = 20_000) -> None:
    for name in range(SESSIONS):
        session = SessionFiles(data_dir, f"s{name}")
        for number in range(MESSAGES):
            session.add_prompt(f"needle {name} {number} " + " ".join(map(str, range(words))))


def start(work: Callable[[Path], None], data_dir: Path):
    process = FORK.Process(target=work, args=(data_dir,))
    process.start()
    return process


def index_all(data_dir: Path) -> None:
    searcher = SessionSearcher(data_dir)
    while searcher.update() < 1:
        pass
    searcher.close()


def index_with_little_space(data_dir: Path) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, resource.RLIM_INFINITY))
    with contextlib.suppress(KimiTuiError):
        index_all(data_dir)


def find_needles(data_dir: Path) -> int:
    """Return how many messages a new program finds after it indexed what was missing."""
    searcher = SessionSearcher(data_dir)
    try:
        assert searcher.update() == 1
        return len(searcher.search("needle").matches)
    finally:
        searcher.close()


def test_the_index_is_complete_after_a_kill_at_any_time(tmp_path: Path) -> None:
    chance = random.Random(1)
    write_sessions(tmp_path)
    began = time.monotonic()
    index_all(tmp_path)
    duration = time.monotonic() - began
    for number in range(ROUNDS):
        if number % 3 == 0:
            (tmp_path / FILE_NAME).unlink(missing_ok=True)
        process = start(index_all, tmp_path)
        time.sleep(chance.uniform(0, duration))
        process.kill()
        process.join()
        with contextlib.closing(sqlite3.connect(tmp_path / FILE_NAME)) as database:
            assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        if number % 2:
            assert find_needles(tmp_path) == SESSIONS * MESSAGES


def test_any_damage_leads_to_a_new_index(tmp_path: Path) -> None:
    chance = random.Random(2)
    write_sessions(tmp_path, words=200)
    index_all(tmp_path)
    file = tmp_path / FILE_NAME
    intact = file.read_bytes()
    for _ in range(20 * ROUNDS):
        data = bytearray(intact)
        start_at = chance.randrange(len(data))
        match chance.choice(("cut", "flip", "zero", "swap")):
            case "cut":
                del data[start_at:]
            case "flip":
                for _ in range(chance.choice((1, 10, 1_000))):
                    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
            case "zero":
                data[start_at : start_at + 4_096] = bytes(4_096)
            case _:
                other = chance.randrange(len(data) // 4_096) * 4_096
                data[start_at // 4_096 * 4_096 :][:4_096] = data[other : other + 4_096]
        file.write_bytes(data)
        for _attempt in range(2):
            with contextlib.suppress(KimiTuiError):
                assert find_needles(tmp_path) <= SESSIONS * MESSAGES
        for suffix in ("", "-wal", "-shm"):
            (tmp_path / f"{FILE_NAME}{suffix}").unlink(missing_ok=True)
    assert find_needles(tmp_path) == SESSIONS * MESSAGES


def test_a_full_disk_leaves_an_index_that_continues(tmp_path: Path) -> None:
    write_sessions(tmp_path)
    process = start(index_with_little_space, tmp_path)
    process.join(TEST_TIMEOUT_S)
    assert process.exitcode == 0
    assert find_needles(tmp_path) == SESSIONS * MESSAGES


def test_several_processes_build_one_index(tmp_path: Path) -> None:
    write_sessions(tmp_path, words=2_000)
    for _ in range(ROUNDS):
        for suffix in ("", "-wal", "-shm"):
            (tmp_path / f"{FILE_NAME}{suffix}").unlink(missing_ok=True)
        processes = [start(index_all, tmp_path) for _ in range(4)]
        for process in processes:
            process.join(TEST_TIMEOUT_S)
        assert [process.exitcode for process in processes] == [0] * 4
        assert find_needles(tmp_path) == SESSIONS * MESSAGES


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES, errno.ENOSPC])
def test_a_file_that_cannot_be_written_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    write_sessions(tmp_path, words=10)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "touch", fail)
        with pytest.raises(KimiTuiError, match="search index"):
            find_needles(tmp_path)
    assert find_needles(tmp_path) == SESSIONS * MESSAGES
