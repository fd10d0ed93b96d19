"""The journal file after each operation, and after each operation that fails."""

import errno
import os
import stat

import pytest

from kimi_tui.base.errors import JournalGone, JournalWriteError, SessionError
from kimi_tui.history.filesystem import LOCAL_FILE_SYSTEM
from kimi_tui.history.journal import Journal, raw_lines
from tests.history.file_systems import FailingFileSystem, RecordingFileSystem, ShortWriteFileSystem


def test_appended_lines_are_read_back(context_file):
    journal = Journal(context_file)
    assert journal.append(b"one\ntwo\n", sync=True) == 0
    assert journal.append(b"three\n", sync=False) == 8
    assert [(raw.number, raw.offset, raw.data) for raw in raw_lines(context_file)] == [
        (1, 0, b"one\n"),
        (2, 4, b"two\n"),
        (3, 8, b"three\n"),
    ]


def test_the_file_and_its_directory_are_private(context_file):
    Journal(context_file).append(b"one\n", sync=False)
    assert stat.S_IMODE(context_file.stat().st_mode) == 0o600
    assert stat.S_IMODE(context_file.parent.stat().st_mode) == 0o700


def test_lines_end_at_line_feeds_only(context_file):
    Journal(context_file).append("a\u2028b\x0bc\rd\x85e\n".encode(), sync=False)
    assert len(list(raw_lines(context_file))) == 1


def test_an_append_adds_a_missing_newline_first(context_file):
    context_file.parent.mkdir()
    context_file.write_bytes(b"one\ntwo")
    journal = Journal(context_file)
    assert journal.append(b"three\n", sync=False) == 8
    journal.append(b"four\n", sync=False)
    assert context_file.read_bytes() == b"one\ntwo\nthree\nfour\n"


def test_an_append_is_one_write_and_syncs_only_on_request(context_file):
    fs = RecordingFileSystem()
    journal = Journal(context_file, fs=fs)
    journal.append(b"one\n", sync=False)
    assert fs.calls == ["write"]
    journal.append(b"two\nthree\n", sync=True)
    assert fs.calls == ["write", "write", "fsync"]


def test_short_writes_are_continued(context_file):
    journal = Journal(context_file, fs=ShortWriteFileSystem())
    journal.append(b"a long line, a very long line\n", sync=True)
    assert journal.rotate(lambda number: [b"another long line %d\n" % number]) == 1
    assert context_file.read_bytes() == b"another long line 1\n"


def test_rotation_numbers_only_increase(context_file):
    journal = Journal(context_file)
    journal.append(b"first\n", sync=True)
    assert journal.rotate(lambda number: [b"second\n"]) == 1
    assert journal.rotate(lambda number: [b"third\n"]) == 2
    journal.rotations()[1].unlink()
    assert journal.rotate(lambda number: [b"fourth\n"]) == 3
    assert {number: path.read_bytes() for number, path in journal.rotations().items()} == {
        2: b"second\n",
        3: b"third\n",
    }
    assert context_file.read_bytes() == b"fourth\n"


def test_rotations_of_kimi_cli_are_found_and_not_overwritten(context_file):
    journal = Journal(context_file)
    journal.append(b"first\n", sync=True)
    (context_file.parent / "context_4.jsonl").write_bytes(b"theirs\n")
    (context_file.parent / "context_sub_9.jsonl").write_bytes(b"not a rotation\n")
    assert journal.rotate(lambda number: [b"second\n"]) == 5
    assert [path.name for path in journal.rotations().values()] == ["context_4.jsonl", "context.jsonl.5"]


@pytest.mark.parametrize("error", [errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK])
def test_without_hard_links_the_replaced_file_is_kept_as_a_copy(context_file, error):
    journal = Journal(context_file, fs=FailingFileSystem("link", error=error))
    journal.append(b"first\n", sync=True)
    journal.rotate(lambda number: [b"second\n"])
    assert context_file.read_bytes() == b"second\n"
    assert journal.rotations()[1].read_bytes() == b"first\n"
    assert {path.name for path in context_file.parent.iterdir()} == {"context.jsonl", "context.jsonl.1"}


@pytest.mark.parametrize("call", ["open", "write", "fsync"])
def test_a_failed_append_leaves_the_file_unchanged_and_can_be_repeated(context_file, call):
    fs = FailingFileSystem()
    journal = Journal(context_file, fs=fs)
    journal.append(b"one\n", sync=True)
    fs.failing_calls = {call}
    with pytest.raises(JournalWriteError, match="No space left") as raised:
        journal.append(b"two, which is long\n", sync=True)
    assert "Free some disk space" in raised.value.hint
    assert context_file.read_bytes() == b"one\n"
    fs.failing_calls = set()
    journal.append(b"three\n", sync=True)
    assert context_file.read_bytes() == b"one\nthree\n"


def test_missing_support_for_fsync_is_not_an_error():
    reading, writing = os.pipe()
    with pytest.raises(OSError, match=os.strerror(errno.EINVAL)):
        os.fsync(writing)
    LOCAL_FILE_SYSTEM.fsync(writing)
    os.close(reading)
    os.close(writing)


def test_a_failed_first_append_leaves_no_file(context_file):
    journal = Journal(context_file, fs=FailingFileSystem("write"))
    with pytest.raises(JournalWriteError):
        journal.append(b"one\n", sync=True)
    assert not context_file.exists()


def test_debris_of_a_failed_write_is_removed_by_the_next_one(context_file):
    fs = FailingFileSystem()
    journal = Journal(context_file, fs=fs)
    journal.append(b"one\n", sync=True)
    fs.failing_calls = {"write", "truncate"}
    with pytest.raises(JournalWriteError):
        journal.append(b"two, which is long\n", sync=True)
    assert context_file.read_bytes() != b"one\n"
    with pytest.raises(JournalWriteError):
        journal.append(b"three\n", sync=True)
    fs.failing_calls = set()
    journal.append(b"four\n", sync=True)
    assert context_file.read_bytes() == b"one\nfour\n"


@pytest.mark.parametrize("call", ["open", "write", "fsync", "link", "rename"])
def test_a_failed_rotation_changes_nothing(context_file, call):
    fs = FailingFileSystem()
    journal = Journal(context_file, fs=fs)
    journal.append(b"one\n", sync=True)
    fs.failing_calls = {call}
    with pytest.raises(JournalWriteError):
        journal.rotate(lambda number: [b"other\n"])
    assert {path.name: path.read_bytes() for path in context_file.parent.iterdir()} == {
        "context.jsonl": b"one\n"
    }
    fs.failing_calls = set()
    assert journal.rotate(lambda number: [b"other\n"]) == 1


def test_the_hint_for_a_read_only_disk_differs_from_that_for_a_full_one(context_file):
    with pytest.raises(JournalWriteError) as raised:
        Journal(context_file, fs=FailingFileSystem("open", error=errno.EROFS)).append(b"one\n", sync=True)
    assert "KIMI_SHARE_DIR" in raised.value.hint


def test_a_file_changed_by_another_program_is_not_overwritten(context_file):
    journal = Journal(context_file)
    journal.append(b"one\n", sync=True)
    context_file.write_bytes(b"something else entirely\n")
    with pytest.raises(JournalWriteError, match="Another program"):
        journal.append(b"two\n", sync=True)
    with pytest.raises(JournalWriteError, match="Another program"):
        journal.rotate(lambda number: [b"two\n"])
    context_file.unlink()
    with pytest.raises(JournalGone, match="deleted or moved"):
        journal.append(b"two\n", sync=True)
    assert not context_file.exists()


def test_leftovers_of_an_interrupted_rotation_are_removed(context_file):
    journal = Journal(context_file)
    journal.append(b"one\n", sync=True)
    journal.rotate(lambda number: [b"two\n"])
    (context_file.parent / "context.jsonl.2").hardlink_to(context_file)
    (context_file.parent / "context.jsonl.new").write_bytes(b"half")
    (context_file.parent / "context.jsonl.3.new").write_bytes(b"half")
    journal.remove_leftovers()
    assert {path.name for path in context_file.parent.iterdir()} == {"context.jsonl", "context.jsonl.1"}


def test_an_unreadable_file_is_a_session_error(tmp_path):
    with pytest.raises(SessionError, match="Can't read"):
        list(raw_lines(tmp_path))
