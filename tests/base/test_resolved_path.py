"""A path that was judged once: whatever is put into its way afterwards, nothing else is opened or written."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from kimi_tui.base.resolved_path import open_resolved, resolved_folder

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links need rights there")


@pytest.fixture
def judged(tmp_path: Path) -> Path:
    """A file that was looked at, beside a secret of the same name."""
    folder = (tmp_path / "work" / "a" / "b").resolve()
    folder.mkdir(parents=True)
    (folder / "config").write_text("harmless")
    secret = tmp_path / "home" / "a" / "b"
    secret.mkdir(parents=True)
    (secret / "config").write_text("secret")
    return folder / "config"


def turn_the_file(path: Path, home: Path) -> None:
    path.unlink()
    path.symlink_to(home / "a" / "b" / "config")


def turn_its_folder(path: Path, home: Path) -> None:
    path.parent.rename(path.parent.with_name("old"))
    path.parent.symlink_to(home / "a" / "b")


def turn_a_folder_above(path: Path, home: Path) -> None:
    above = path.parent.parent
    above.rename(above.with_name("old"))
    above.symlink_to(home / "a")


TURNS = [turn_the_file, turn_its_folder, turn_a_folder_above]


@pytest.mark.parametrize("turn", TURNS)
def test_no_link_in_the_way_is_followed_to_read(
    judged: Path, tmp_path: Path, turn: Callable[[Path, Path], None]
) -> None:
    with os.fdopen(open_resolved(judged, os.O_RDONLY)) as file:
        assert file.read() == "harmless"
    turn(judged, tmp_path / "home")
    assert judged.read_text() == "secret"
    with pytest.raises(OSError, match=os.strerror(errno.ELOOP)):
        open_resolved(judged, os.O_RDONLY)


@pytest.mark.parametrize("turn", TURNS[1:])
@pytest.mark.parametrize("make", [False, True])
def test_nor_to_write(
    judged: Path, tmp_path: Path, turn: Callable[[Path, Path], None], *, make: bool
) -> None:
    turn(judged, tmp_path / "home")
    with pytest.raises(OSError, match=os.strerror(errno.ELOOP)), resolved_folder(judged.parent, make=make):
        pass


def test_a_folder_that_is_held_stays_the_same_one(judged: Path, tmp_path: Path) -> None:
    with resolved_folder(judged.parent) as folder:
        turn_its_folder(judged, tmp_path / "home")
        os.close(folder.create("new", 0o600))
        folder.replace("new", "config")
        os.close(folder.create("more", 0o600))
        folder.remove("more")
        folder.sync()
    assert judged.read_text() == "secret"
    assert sorted(path.name for path in (tmp_path / "home" / "a" / "b").iterdir()) == ["config"]
    assert (judged.parent.with_name("old") / "config").read_text() == ""


def test_missing_folders_are_made_and_what_is_no_folder_is_told(judged: Path) -> None:
    below = judged.parent / "x" / "y"
    with resolved_folder(below, make=True) as folder:
        os.close(folder.create("z", 0o600))
    assert (below / "z").is_file()
    with pytest.raises(FileNotFoundError), resolved_folder(below / "none"):
        pass
    with pytest.raises(NotADirectoryError):
        open_resolved(judged / "z", os.O_RDONLY)
    os.close(open_resolved(Path("/"), os.O_RDONLY))
