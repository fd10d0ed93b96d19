"""Symbolic links that replace part of a resolved path are not followed."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from kimi_tui.base.no_follow import open_no_follow, open_no_follow_dir

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links need privileges on Windows")


@pytest.fixture
def resolved_file(tmp_path: Path) -> Path:
    """A resolved file. Another directory has a secret of the same name."""
    folder = (tmp_path / "work" / "a" / "b").resolve()
    folder.mkdir(parents=True)
    (folder / "config").write_text("harmless")
    secret = tmp_path / "home" / "a" / "b"
    secret.mkdir(parents=True)
    (secret / "config").write_text("secret")
    return folder / "config"


def replace_file_with_link(path: Path, home: Path) -> None:
    path.unlink()
    path.symlink_to(home / "a" / "b" / "config")


def replace_parent_with_link(path: Path, home: Path) -> None:
    path.parent.rename(path.parent.with_name("old"))
    path.parent.symlink_to(home / "a" / "b")


def replace_ancestor_with_link(path: Path, home: Path) -> None:
    grandparent = path.parent.parent
    grandparent.rename(grandparent.with_name("old"))
    grandparent.symlink_to(home / "a")


LINK_ATTACKS = [replace_file_with_link, replace_parent_with_link, replace_ancestor_with_link]


@pytest.mark.parametrize("attack", LINK_ATTACKS)
def test_no_link_is_followed_when_reading(
    resolved_file: Path, tmp_path: Path, attack: Callable[[Path, Path], None]
) -> None:
    with os.fdopen(open_no_follow(resolved_file, os.O_RDONLY)) as file:
        assert file.read() == "harmless"
    attack(resolved_file, tmp_path / "home")
    assert resolved_file.read_text() == "secret"
    with pytest.raises(OSError, match=os.strerror(errno.ELOOP)):
        open_no_follow(resolved_file, os.O_RDONLY)


@pytest.mark.parametrize("attack", LINK_ATTACKS[1:])
@pytest.mark.parametrize("create", [False, True])
def test_no_link_is_followed_when_writing(
    resolved_file: Path, tmp_path: Path, attack: Callable[[Path, Path], None], *, create: bool
) -> None:
    attack(resolved_file, tmp_path / "home")
    with (
        pytest.raises(OSError, match=os.strerror(errno.ELOOP)),
        open_no_follow_dir(resolved_file.parent, create=create),
    ):
        pass


def test_an_open_directory_is_used_after_its_path_was_replaced(resolved_file: Path, tmp_path: Path) -> None:
    with open_no_follow_dir(resolved_file.parent) as folder:
        replace_parent_with_link(resolved_file, tmp_path / "home")
        os.close(folder.create("new", 0o600))
        folder.replace("new", "config")
        os.close(folder.create("more", 0o600))
        folder.remove("more")
        folder.sync()
    assert resolved_file.read_text() == "secret"
    assert sorted(path.name for path in (tmp_path / "home" / "a" / "b").iterdir()) == ["config"]
    assert (resolved_file.parent.with_name("old") / "config").read_text() == ""


def test_missing_directories_are_created_and_other_errors_are_raised(resolved_file: Path) -> None:
    child = resolved_file.parent / "x" / "y"
    with open_no_follow_dir(child, create=True) as folder:
        os.close(folder.create("z", 0o600))
    assert (child / "z").is_file()
    with pytest.raises(FileNotFoundError), open_no_follow_dir(child / "none"):
        pass
    with pytest.raises(NotADirectoryError):
        open_no_follow(resolved_file / "z", os.O_RDONLY)
    os.close(open_no_follow(Path("/"), os.O_RDONLY))
