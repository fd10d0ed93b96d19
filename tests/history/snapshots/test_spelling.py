"""File systems where several names lead to one file. The stories need one: `pytest --basetemp` chooses."""

import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from kimi_tui.history.snapshots.spelling import Spelling
from tests.history.snapshots.place import Place


def folding(path: str) -> int | None:
    """What such a file system finds at a path."""
    found = Path("/")
    for name in Path(path).parts[1:]:
        same = [each for each in found.iterdir() if folded(each.name) == folded(name)]
        if not same:
            return None
        found = same[0]
    return found.lstat().st_ino


def folded(name: str) -> str:
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
def test_a_path_is_spelled_as_it_is_listed(path: str, listed: str, root: str) -> None:
    assert Spelling(root, inode_of=folding).of(path) == listed
    assert Spelling("/", inode_of=folding).of(f"{root}//{path}") == f"{root}//{listed}"


def test_where_a_name_is_a_name_it_stays(root: str) -> None:
    assert Spelling(root, inode_of=exact).of("readme.md") == "readme.md"


def exact(path: str) -> int | None:
    """What any other file system finds."""
    return next((each.lstat().st_ino for each in Path(path).parent.iterdir() if str(each) == path), None)


@pytest.mark.parametrize(
    ("agent", "paths"),
    [
        (lambda work: (work / "readme.md").rename(work / "README.md"), None),
        (lambda work: (work / "README.md").write_text("two\n"), ["README.md"]),
        (lambda work: (work / "Src").rename(work / "src"), None),
        (lambda work: (work / "src" / "F").write_text("two\n"), ["src/F"]),
    ],
    ids=["a file gets another case", "a file is written by another", "a folder gets one", "a path with both"],
)
def test_what_the_agent_did_by_another_spelling_comes_back_and_goes_again(
    agent: Callable[[Path], object], paths: Sequence[str] | None, tmp_path: Path
) -> None:
    if not (tmp_path.parent / tmp_path.name.swapcase()).exists():
        pytest.skip("a name is a name here")
    place = Place(tmp_path)
    place.history.open()
    (place.work / "readme.md").write_text("one\n")
    (place.work / "Src").mkdir()
    (place.work / "Src" / "f").write_text("one\n")
    start, before = place.checkpoint(), place.files()
    agent(place.work)
    head = place.history.capture(place.call(), paths=paths).manifest
    after = place.files()
    place.revert(start)
    assert place.files() == before
    place.revert(head)
    assert place.files() == after
    place.history.close()
