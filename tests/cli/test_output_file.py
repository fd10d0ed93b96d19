"""`--output`: the file has either the old or the complete new content."""

import os
import threading
from pathlib import Path

import pytest

from kimi_tui.base.errors import UsageError
from kimi_tui.cli.output_file import output_file


def test_the_old_content_stays_until_the_run_is_over(tmp_path: Path) -> None:
    path = tmp_path / "answer.txt"
    path.write_text("old")
    path.chmod(0o640)
    with output_file(path) as file:
        file.write(b"new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_an_interrupted_run_leaves_the_old_content_and_no_other_file(tmp_path: Path) -> None:
    path = tmp_path / "answer.txt"
    path.write_text("old")

    def interrupted_run() -> None:
        with output_file(path) as file:
            file.write(b"half of")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted_run()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_symlink_is_kept(tmp_path: Path) -> None:
    (tmp_path / "real.txt").write_text("old")
    link = tmp_path / "link.txt"
    link.symlink_to("real.txt")
    with output_file(link) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"


def test_a_pipe_is_written_to_directly(tmp_path: Path) -> None:
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
def test_an_unwritable_file_is_reported_before_the_run(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="Can't write"), output_file(tmp_path / name):
        pass
