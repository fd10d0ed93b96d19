"""A patch between two states, as git takes it."""

import os
import subprocess
from pathlib import Path

from kimi_tui.history.snapshots.caps import Caps
from tests.history.snapshots.place import Place


def apply(patch: bytes, folder: Path, *options: str) -> None:
    subprocess.run(["git", "apply", "--whitespace=nowarn", *options], input=patch, cwd=folder, check=True)


def looks(folder: Path) -> dict[Path, tuple[bytes, int]]:
    """Every file below a folder: what it holds, or where it leads to, and whether it can be run."""
    found = {}
    for path in folder.rglob("*"):
        if path.is_symlink() or path.is_file():
            held = os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes()
            found[path.relative_to(folder)] = (held, path.lstat().st_mode & 0o100)
    return found


def fill_before(work: Path) -> None:
    (work / "far apart").write_text("".join(f"{n}\n" for n in range(40)))
    (work / "no end").write_text("one\ntwo")
    (work / "gone").write_text("gone\n")
    (work / "empty gone").touch()
    (work / "script").write_text("echo\n")
    (work / "both").write_text("echo\n")
    (work / "link").symlink_to("script")
    (work / "to be a link").write_text("file\n")
    (work / "binary").write_bytes(bytes(range(256)) * 3)
    (work / "folder").mkdir()
    (work / "folder" / "in").write_text("in\n")
    Path(os.fsdecode(os.fsencode(work) + b'/\xff\n"\\')).write_text("odd\n")
    (work / "文件 名").write_text("一\n")
    (work / "crlf").write_bytes(b"a\r\nb\r\n")


def fill_after(work: Path) -> None:
    (work / "far apart").write_text("".join(f"{'new' if n in (1, 20, 24, 39) else n}\n" for n in range(40)))
    (work / "no end").write_text("one\ntwo\nthree")
    (work / "gone").unlink()
    (work / "empty gone").unlink()
    (work / "empty made").touch()
    (work / "script").chmod(0o755)
    (work / "both").chmod(0o755)
    (work / "both").write_text("echo more\n")
    (work / "link").unlink()
    (work / "link").symlink_to("../elsewhere")
    (work / "to be a link").unlink()
    (work / "to be a link").symlink_to("script")
    (work / "binary").write_bytes(bytes(reversed(range(256))) * 2)
    (work / "made.bin").write_bytes(b"\0")
    (work / "folder" / "in").unlink()
    (work / "folder").rmdir()
    (work / "folder").write_text("a file now\n")
    Path(os.fsdecode(os.fsencode(work) + b'/\xff\n"\\')).write_text("odder\n")
    (work / "文件 名").write_text("二\n")
    (work / "crlf").write_bytes(b"a\r\nc\r\n")
    (work / "deep" / "er").mkdir(parents=True)
    (work / "deep" / "er" / "made").write_text("made\n")


def test_git_makes_the_one_state_of_the_other_and_back(place: Place, tmp_path: Path) -> None:
    fill_before(place.work)
    before = place.checkpoint()
    as_before = looks(place.work)
    fill_after(place.work)
    after = place.checkpoint()
    patch = place.history.patch(before, after)
    assert not patch.left_out
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    fill_before(elsewhere)
    apply(patch.text, elsewhere)
    assert looks(elsewhere) == looks(place.work)
    apply(patch.text, elsewhere, "--reverse")
    assert looks(elsewhere) == as_before


def test_it_names_what_it_cannot_hold(tmp_path: Path) -> None:
    place = Place(tmp_path, caps=Caps(file=10))
    place.history.open()
    before = place.checkpoint()
    (place.work / "small").write_text("small\n")
    (place.work / "large").write_text("x" * 11)
    patch = place.history.patch(before, place.checkpoint())
    assert patch.paths == ("small",)
    assert patch.left_out == (("large", "it is too large"),)


def test_states_that_do_not_differ_make_no_patch(place: Place) -> None:
    (place.work / "f").write_text("f\n")
    state = place.checkpoint()
    assert place.history.patch(state, state).text == b""
