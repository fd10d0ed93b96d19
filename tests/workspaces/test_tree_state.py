"""The comparison of trees notices everything that a commit must keep."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.workspaces.tree_state import read_tree, tree_differences, without_stat_fields

OLD_NS = 1_600_000_000_000_000_000

CHANGES: dict[str, Callable[[Path], object]] = {
    "content": lambda root: (root / "file").write_text("x" * 5),
    "mode": lambda root: (root / "file").chmod(0o600),
    "mode of a folder": lambda root: (root / "folder").chmod(0o700),
    "time": lambda root: os.utime(root / "file", ns=(OLD_NS, OLD_NS + 1)),
    "file removed": lambda root: (root / "file").unlink(),
    "file added": lambda root: (root / "folder" / "new").touch(),
    "folder added": lambda root: (root / "new").mkdir(),
    "link target": lambda root: ((root / "link").unlink(), (root / "link").symlink_to("folder")),
    "hard link split": lambda root: ((root / "second").unlink(), (root / "second").write_text("first")),
    "hole filled": lambda root: (root / "sparse").write_bytes(bytes(4 << 20)),
    "data in a hole": lambda root: os.pwrite(os.open(root / "sparse", os.O_WRONLY), b"x", 3 << 20),
    "fifo for a file": lambda root: ((root / "file").unlink(), os.mkfifo(root / "file")),
}


def make_tree(root: Path) -> None:
    """Write one entry of each kind."""
    (root / "folder").mkdir(parents=True)
    (root / "file").write_text("hello")
    (root / "first").write_text("first")
    os.link(root / "first", root / "second")
    (root / "link").symlink_to("file")
    os.mkfifo(root / "fifo")
    (root / "sparse").touch()
    os.truncate(root / "sparse", 4 << 20)
    for name in ("file", "first", "sparse"):
        os.utime(root / name, ns=(OLD_NS, OLD_NS))


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_noticed(change: str, tmp_path: Path) -> None:
    for name in ("one", "two"):
        make_tree(tmp_path / name)
    started_ns = time.time_ns() - 60 * 10**9
    one, two = os.fsencode(tmp_path / "one"), os.fsencode(tmp_path / "two")
    assert tree_differences(read_tree(one, started_ns), read_tree(two, started_ns)) == []
    CHANGES[change](tmp_path / "two")
    assert tree_differences(read_tree(one, started_ns), read_tree(two, started_ns))


def test_an_attribute_is_noticed(tmp_path: Path) -> None:
    make_tree(tmp_path)
    before = read_tree(os.fsencode(tmp_path), OLD_NS + 1)
    try:
        os.setxattr(tmp_path / "file", "user.note", b"x")
    except OSError as error:
        pytest.skip(f"No extended attributes here: {error}")
    assert tree_differences(before, read_tree(os.fsencode(tmp_path), OLD_NS + 1))


def test_times_of_the_run_are_equal_whatever_they_are(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text("x")
    now_ns = time.time_ns()
    os.utime(tmp_path / "two" / "file", ns=(now_ns, now_ns + 10**9))
    one, two = (read_tree(os.fsencode(tmp_path / name), now_ns - 10**10) for name in ("one", "two"))
    assert tree_differences(one, two) == []


def test_indexes_of_git_are_compared_without_what_lstat_returned(tmp_path: Path) -> None:
    def index(inode: int, mode: int, name: bytes) -> bytes:
        entry = bytes(16) + bytes(4) + inode.to_bytes(4, "big") + mode.to_bytes(4, "big") + bytes(12)
        entry += b"h" * 20 + len(name).to_bytes(2, "big") + name
        entry += bytes(8 - len(entry) % 8)
        return b"DIRC" + (2).to_bytes(4, "big") + (1).to_bytes(4, "big") + entry + inode.to_bytes(20, "big")

    assert without_stat_fields(index(1, 0o100644, b"a")) == without_stat_fields(index(2, 0o100644, b"a"))
    assert without_stat_fields(index(1, 0o100644, b"a")) != without_stat_fields(index(1, 0o100755, b"a"))
    assert without_stat_fields(index(1, 0o100644, b"a")) != without_stat_fields(index(1, 0o100644, b"b"))
