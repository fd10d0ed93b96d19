"""File systems where several names refer to one file. The last test needs one: use `pytest --basetemp`."""

import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from kimi_tui.history.snapshots.path_aliases import PathAliases
from tests.history.snapshots.file_history_fixture import FileHistoryFixture


class CaseInsensitiveAliases(PathAliases):
    """Aliases on a file system that ignores case."""

    def inode_of(self, path: str) -> int | None:
        current = Path("/")
        for name in Path(path).parts[1:]:
            same = [each for each in current.iterdir() if fold_name(each.name) == fold_name(name)]
            if not same:
                return None
            current = same[0]
        return current.lstat().st_ino


class CaseSensitiveAliases(PathAliases):
    """Aliases on a file system where a path has one spelling."""

    def inode_of(self, path: str) -> int | None:
        return next((each.lstat().st_ino for each in Path(path).parent.iterdir() if str(each) == path), None)


def fold_name(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


@pytest.fixture
def root(tmp_path: Path) -> str:
    (tmp_path / "Src").mkdir()
    (tmp_path / "Src" / "Main.py").touch()
    (tmp_path / "Src" / unicodedata.normalize("NFD", "café")).touch()
    (tmp_path / "README.md").touch()
    return str(tmp_path)


@pytest.mark.parametrize(
    ("path", "listed"),
    [
        ("readme.md", "README.md"),
        ("README.md", "README.md"),
        ("src/main.PY", "Src/Main.py"),
        ("src/new/file", "Src/new/file"),
        ("nothing/Here", "nothing/Here"),
        (unicodedata.normalize("NFC", "Src/café"), unicodedata.normalize("NFD", "Src/café")),
    ],
)
def test_a_path_resolves_to_its_listed_names(path: str, listed: str, root: str) -> None:
    assert CaseInsensitiveAliases(root).canonical(path) == listed
    assert CaseInsensitiveAliases("/").canonical(f"{root}//{path}") == f"{root}//{listed}"


def test_a_path_stays_unchanged_on_a_case_sensitive_file_system(root: str) -> None:
    assert CaseSensitiveAliases(root).canonical("readme.md") == "readme.md"


@pytest.mark.parametrize(
    ("change", "paths"),
    [
        (lambda work: (work / "readme.md").rename(work / "README.md"), None),
        (lambda work: (work / "README.md").write_text("two\n"), ["README.md"]),
        (lambda work: (work / "Src").rename(work / "src"), None),
        (lambda work: (work / "src" / "F").write_text("two\n"), ["src/F"]),
    ],
    ids=["rename a file", "write a file", "rename a directory", "write in a directory"],
)
def test_changes_through_an_alias_can_be_reverted_and_redone(
    change: Callable[[Path], object], paths: Sequence[str] | None, tmp_path: Path
) -> None:
    if not (tmp_path.parent / tmp_path.name.swapcase()).exists():
        pytest.skip("needs a case-insensitive file system")
    project = FileHistoryFixture(tmp_path)
    project.history.open()
    (project.work / "readme.md").write_text("one\n")
    (project.work / "Src").mkdir()
    (project.work / "Src" / "f").write_text("one\n")
    start, before = project.checkpoint(), project.files()
    change(project.work)
    head = project.history.capture(project.call(), paths=paths).manifest
    after = project.files()
    project.revert(start)
    assert project.files() == before
    project.revert(head)
    assert project.files() == after
    project.history.close()
