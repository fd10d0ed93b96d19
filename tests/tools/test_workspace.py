"""What a path given to a tool means."""

import os
from pathlib import Path

import pytest

from kimi_tui.base.errors import FileProblem
from kimi_tui.tools.workspace import Workspace


@pytest.fixture
def work_dir(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def test_a_relative_path_starts_at_the_work_dir(work_dir: Path) -> None:
    located = Workspace(work_dir).locate("src/./x/../a.py")

    assert located.path == work_dir / "src" / "a.py"
    assert located.shown == "src/a.py"
    assert located.inside


def test_a_relative_path_may_not_leave_the_work_dir(work_dir: Path) -> None:
    with pytest.raises(FileProblem, match="absolute path"):
        Workspace(work_dir).locate("../other/a.py")


def test_a_relative_path_may_lead_into_an_added_dir(work_dir: Path, tmp_path: Path) -> None:
    workspace = Workspace(work_dir, (tmp_path / "other",))

    assert workspace.locate("../other/a.py").inside
    assert not workspace.locate(str(tmp_path / "others" / "a.py")).inside


def test_an_absolute_path_may_lie_outside_and_is_known_to(work_dir: Path) -> None:
    located = Workspace(work_dir).locate("/etc/hosts")

    assert located.shown == "/etc/hosts"
    assert not located.inside


def test_a_path_from_home_is_absolute(work_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/somebody")
    assert Workspace(work_dir).locate("~/notes").path == Path("/home/somebody/notes")


def test_a_link_that_leads_out_of_the_work_dir_lies_outside(work_dir: Path, tmp_path: Path) -> None:
    (work_dir / "link").symlink_to(tmp_path)
    located = Workspace(work_dir).locate("link/secret.txt")

    assert not located.inside
    assert located.real == tmp_path / "secret.txt"
    assert str(tmp_path / "secret.txt") in located.named


def test_a_work_dir_that_is_a_link_holds_its_files(work_dir: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(work_dir)
    located = Workspace(tmp_path / "link").locate("a.py")

    assert located.inside
    assert located.named == "a.py"


@pytest.mark.parametrize("text", ["", "  ", "a\x00b", "a\ud800b"])
def test_what_can_be_no_path_is_refused(work_dir: Path, text: str) -> None:
    with pytest.raises(FileProblem):
        Workspace(work_dir).locate(text)


@pytest.mark.skipif(os.name == "nt", reason="names are text there")
def test_a_name_that_is_no_text_is_shown_and_found_again(work_dir: Path) -> None:
    name = os.fsdecode(b"caf\xe9\n.txt")
    (work_dir / name).touch()
    workspace = Workspace(work_dir)
    shown = workspace.shown(work_dir / name)

    assert shown == "caf\ufffd\ufffd.txt"
    assert workspace.locate(shown).path == work_dir / name


@pytest.mark.skipif(os.name == "nt", reason="names are text there")
def test_a_name_that_could_be_two_files_is_neither(work_dir: Path) -> None:
    for byte in (b"\xe8", b"\xe9"):
        (work_dir / os.fsdecode(b"caf" + byte)).touch()

    assert not Workspace(work_dir).locate("caf\ufffd").path.exists()
