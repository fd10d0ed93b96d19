"""Patches between two states, for `git apply`."""

import os
import subprocess
from pathlib import Path

from kimi_tui.history.snapshots.limits import SnapshotLimits
from tests.history.snapshots.file_history_fixture import FileHistoryFixture


def apply(patch: bytes, folder: Path, *options: str) -> None:
    subprocess.run(["git", "apply", "--whitespace=nowarn", *options], input=patch, cwd=folder, check=True)


def snapshot_dir(folder: Path) -> dict[Path, tuple[bytes, int]]:
    """Return the content or link target of every file below a directory, and whether it is executable."""
    files = {}
    for path in folder.rglob("*"):
        if path.is_symlink() or path.is_file():
            content = os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes()
            files[path.relative_to(folder)] = (content, path.lstat().st_mode & 0o100)
    return files


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


def test_git_applies_a_patch_forwards_and_in_reverse(project: FileHistoryFixture, tmp_path: Path) -> None:
    fill_before(project.work)
    before = project.checkpoint()
    snapshot_before = snapshot_dir(project.work)
    fill_after(project.work)
    after = project.checkpoint()
    patch = project.history.patch(before, after)
    assert not patch.omitted
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    fill_before(elsewhere)
    apply(patch.text, elsewhere)
    assert snapshot_dir(elsewhere) == snapshot_dir(project.work)
    apply(patch.text, elsewhere, "--reverse")
    assert snapshot_dir(elsewhere) == snapshot_before


def test_omitted_files_are_reported(tmp_path: Path) -> None:
    project = FileHistoryFixture(tmp_path, limits=SnapshotLimits(file=10))
    project.history.open()
    before = project.checkpoint()
    (project.work / "small").write_text("small\n")
    (project.work / "large").write_text("x" * 11)
    patch = project.history.patch(before, project.checkpoint())
    assert patch.paths == ("small",)
    assert patch.omitted == (("large", "too large"),)


def test_equal_states_have_an_empty_patch(project: FileHistoryFixture) -> None:
    (project.work / "f").write_text("f\n")
    state = project.checkpoint()
    assert project.history.patch(state, state).text == b""
