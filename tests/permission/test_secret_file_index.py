"""The index of files with secrets: complete, and read in parts before the first command needs it."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import pytest

from kimi_tui.permission.secret_file_index import SecretFileIndex

LONG_S = 60.0
LONG_AGO_S = 1_000


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for number in range(30):
        folder = tmp_path / f"part{number}" / "inner"
        folder.mkdir(parents=True)
        (folder / "main.py").write_text("")
    (tmp_path / "part7" / ".env").write_text("PASSWORD=x")
    (tmp_path / "part9" / "inner" / "id_rsa.txt").write_text("key")
    (tmp_path / "part3" / "node_modules").mkdir()
    (tmp_path / "part3" / "node_modules" / "example.pem").write_text("key")
    age(tmp_path)
    return tmp_path


def age(project: Path) -> None:
    """Make the directories old enough that their times identify their content."""
    then = time.time() - LONG_AGO_S
    for folder, _, _ in os.walk(project):
        os.utime(folder, (then, then))


def names(index: SecretFileIndex, project: Path) -> list[str]:
    return sorted(str(path.relative_to(project)) for path in index.find([project]))


@contextmanager
def read_folders() -> Iterator[list[str]]:
    """Yield the names of the directories that are read meanwhile."""
    read: list[str] = []
    scandir = os.scandir

    def note(name: str) -> object:
        read.append(name)
        return scandir(name)

    with patch("os.scandir", note):
        yield read


def test_it_finds_secrets_outside_of_directories_of_packages(project: Path) -> None:
    assert names(SecretFileIndex(), project) == ["part7/.env", "part9/inner/id_rsa.txt"]


def test_after_the_preparation_the_search_reads_no_directory(project: Path) -> None:
    index = SecretFileIndex()
    assert not index.prepare([project], LONG_S)
    with read_folders() as read:
        assert names(index, project) == ["part7/.env", "part9/inner/id_rsa.txt"]
    assert not read


def test_the_preparation_stops_when_its_time_is_over_and_continues_later(project: Path) -> None:
    index = SecretFileIndex()
    slices = 0
    with read_folders() as read:
        while index.prepare([project], 1e-9):
            slices += 1
            assert slices < 1_000
    assert slices >= 10
    assert len(read) == len(set(read)) == 61
    with read_folders() as read:
        assert names(index, project) == ["part7/.env", "part9/inner/id_rsa.txt"]
    assert not read


def test_a_search_in_the_middle_of_the_preparation_is_complete(project: Path) -> None:
    index = SecretFileIndex()
    assert index.prepare([project], 1e-9)
    assert names(index, project) == ["part7/.env", "part9/inner/id_rsa.txt"]
    assert not index.prepare([project], LONG_S)


def test_a_secret_that_is_created_after_the_preparation_is_found(project: Path) -> None:
    index = SecretFileIndex()
    index.prepare([project], LONG_S)
    (project / "part1" / "server.pem").write_text("key")
    (project / "part2" / "new").mkdir()
    (project / "part2" / "new" / ".netrc").write_text("key")
    assert names(index, project) == [
        "part1/server.pem",
        "part2/new/.netrc",
        "part7/.env",
        "part9/inner/id_rsa.txt",
    ]


def test_a_directory_that_is_added_later_is_prepared_too(
    project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    added = tmp_path_factory.mktemp("added")
    (added / "secrets.toml").write_text("x")
    age(added)
    index = SecretFileIndex()
    index.prepare([project], LONG_S)
    with read_folders() as read:
        index.prepare([project, added], LONG_S)
    assert read == [str(added)]
    assert added / "secrets.toml" in index.find([project, added])
