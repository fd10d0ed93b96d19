"""-o FILE: the old text or the whole new one, never a part."""

import os
import threading
from pathlib import Path

import pytest

from kimi_tui.base.errors import UsageError
from kimi_tui.cli.output_file import output_file


def test_what_was_there_stays_until_the_run_is_over(tmp_path: Path) -> None:
    path = tmp_path / "answer.txt"
    path.write_text("old")
    path.chmod(0o640)
    with output_file(path) as file:
        file.write(b"new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_what_is_cut_off_leaves_the_old_text_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "answer.txt"
    path.write_text("old")

    def cut_off() -> None:
        with output_file(path) as file:
            file.write(b"half of")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cut_off()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_leads_to_the_same_file_as_before(tmp_path: Path) -> None:
    (tmp_path / "real.txt").write_text("old")
    link = tmp_path / "link.txt"
    link.symlink_to("real.txt")
    with output_file(link) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"


def test_a_pipe_is_written_to_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(path.read_bytes()))
    reader.start()
    with output_file(path) as file:
        file.write(b"hello")
    reader.join()
    assert read == [b"hello"]


@pytest.mark.parametrize("name", ["no/such/folder.txt", "."])
def test_what_cannot_be_written_is_told_beforehand(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="can't be written"), output_file(tmp_path / name):
        pass
