"""Resolution of paths given to tools."""

import os
from pathlib import Path

import pytest

from kimi_tui.base.errors import FileProblem
from kimi_tui.tools.path_scope import PathScope


@pytest.fixture
def work_dir(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def test_a_relative_path_starts_at_the_work_dir(work_dir: Path) -> None:
    located = PathScope(work_dir).locate("src/./x/../a.py")

    assert located.path == work_dir / "src" / "a.py"
    assert located.display_path == "src/a.py"
    assert located.is_inside


def test_a_relative_path_may_not_leave_the_work_dir(work_dir: Path) -> None:
    with pytest.raises(FileProblem, match="absolute path"):
        PathScope(work_dir).locate("../other/a.py")


def test_a_relative_path_may_lead_into_an_added_dir(work_dir: Path, tmp_path: Path) -> None:
    scope = PathScope(work_dir, (tmp_path / "other",))

    assert scope.locate("../other/a.py").is_inside
    assert not scope.locate(str(tmp_path / "others" / "a.py")).is_inside


def test_an_absolute_path_may_be_outside(work_dir: Path) -> None:
    located = PathScope(work_dir).locate("/etc/hosts")

    assert located.display_path == "/etc/hosts"
    assert not located.is_inside


def test_a_path_in_the_home_directory_is_absolute(work_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/somebody")
    assert PathScope(work_dir).locate("~/notes").path == Path("/home/somebody/notes")


def test_a_link_out_of_the_work_dir_is_outside(work_dir: Path, tmp_path: Path) -> None:
    (work_dir / "link").symlink_to(tmp_path)
    located = PathScope(work_dir).locate("link/secret.txt")

    assert not located.is_inside
    assert located.real == tmp_path / "secret.txt"
    assert str(tmp_path / "secret.txt") in located.display_path_with_target


def test_the_work_dir_may_be_a_link(work_dir: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(work_dir)
    located = PathScope(tmp_path / "link").locate("a.py")

    assert located.is_inside
    assert located.display_path_with_target == "a.py"


@pytest.mark.parametrize("text", ["", "  ", "a\x00b", "a\ud800b"])
def test_invalid_paths_are_refused(work_dir: Path, text: str) -> None:
    with pytest.raises(FileProblem):
        PathScope(work_dir).locate(text)


@pytest.mark.skipif(os.name == "nt", reason="file names are text on Windows")
def test_a_file_is_found_by_its_printable_name(work_dir: Path) -> None:
    name = os.fsdecode(b"caf\xe9\n.txt")
    (work_dir / name).touch()
    scope = PathScope(work_dir)
    shown = scope.display_path(work_dir / name)

    assert shown == "caf\ufffd\ufffd.txt"
    assert scope.locate(shown).path == work_dir / name


@pytest.mark.skipif(os.name == "nt", reason="file names are text on Windows")
def test_an_ambiguous_printable_name_matches_no_file(work_dir: Path) -> None:
    for byte in (b"\xe8", b"\xe9"):
        (work_dir / os.fsdecode(b"caf" + byte)).touch()

    assert not PathScope(work_dir).locate("caf\ufffd").path.exists()
