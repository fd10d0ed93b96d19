"""File index for completion after `@`."""

import os
import subprocess
from pathlib import Path

import pytest

from kimi_tui.tui.prompt.file_index import FileIndex, list_files
from tests.loop_clock import LoopClock


def create_files(root: Path, *paths: str) -> None:
    for path in paths:
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    create_files(tmp_path, "src/auth.py", "src/deep/er/view.py", "README.md", "build/out.js", "notes.log")
    (tmp_path / ".gitignore").write_text("build/\n*.log\n")
    return tmp_path


def test_files_ignored_by_git_are_left_out(repository: Path) -> None:
    paths = list_files(repository)
    assert "src/auth.py" in paths
    assert not any("build" in path or "notes" in path for path in paths)


def test_directories_are_listed_with_a_slash(repository: Path) -> None:
    assert {"src/", "src/deep/", "src/deep/er/"} <= set(list_files(repository))


def test_a_subdirectory_of_a_repository_lists_its_own_files(repository: Path) -> None:
    assert "auth.py" in list_files(repository / "src")


@pytest.mark.parametrize("bare", [False, True])
def test_listing_runs_no_program_configured_in_the_repository(tmp_path: Path, *, bare: bool) -> None:
    work, trace, program = tmp_path / "work", tmp_path / "ran", tmp_path / "evil"
    program.write_text(f"#!/bin/sh\necho ran >>'{trace}'\nprintf '/\\0'\n")
    program.chmod(0o755)
    git = ["git", "-C", str(work), *([] if bare else ["-c", "core.fsmonitor=false"])]
    subprocess.run(["git", "init", "-q", *(["--bare"] if bare else []), work], check=True)
    create_files(work, "a.py", "sub/b.py")
    subprocess.run([*git, "config", "core.fsmonitor", program], check=True)
    subprocess.run([*git, "config", "core.untrackedCache", "true"], check=True)
    if bare:
        subprocess.run([*git, "config", "core.bare", "false"], check=True)
        subprocess.run([*git, "config", "core.worktree", "."], check=True)
    subprocess.run(["git", "ls-files", "--others"], cwd=work, check=True, capture_output=True)
    assert trace.exists(), "git didn't run the configured program, so the test proves nothing"
    trace.unlink()
    assert "a.py" in list_files(work)
    assert not trace.exists()


def test_dependency_directories_are_skipped_without_git(tmp_path: Path) -> None:
    create_files(tmp_path, "a.py", "node_modules/x/index.js", ".cache/y", "sub/b.py", ".env")
    assert set(list_files(tmp_path)) == {"a.py", ".env", "sub/", "sub/b.py"}


def test_names_with_control_characters_are_left_out(tmp_path: Path) -> None:
    create_files(tmp_path, "fine.txt", "new\nline.txt", "esc\x1b[31m.txt")
    (Path(os.fsdecode(os.fsencode(tmp_path) + b"/bad\xff.txt"))).write_text("x")
    assert list_files(tmp_path) == ["fine.txt"]


async def test_the_best_match_comes_first(repository: Path) -> None:
    index = FileIndex(repository)
    await index.refresh()
    assert (await index.search("auth"))[0].text == "src/auth.py"
    assert (await index.search("vw"))[0].text == "src/deep/er/view.py"
    assert await index.search("zzz") == []


async def test_an_empty_query_lists_the_top_level(repository: Path) -> None:
    index = FileIndex(repository)
    await index.refresh()
    assert [match.text for match in await index.search("")] == [".gitignore", "README.md", "src/"]


async def test_the_list_is_refreshed_only_when_outdated(repository: Path) -> None:
    clock = LoopClock()
    index = FileIndex(repository)
    assert await index.refresh()
    create_files(repository, "later.py")
    assert not await index.refresh()
    assert await index.search("later") == []
    clock.advance(60.0)
    assert await index.refresh()
    assert [match.text for match in await index.search("later")] == ["later.py"]


async def test_all_matches_are_found_among_many_files(tmp_path: Path) -> None:
    create_files(tmp_path, *(f"d{number % 7}/file_{number}.txt" for number in range(300)), "d3/needle_in.py")
    index = FileIndex(tmp_path)
    await index.refresh()
    assert [match.text for match in await index.search("needle")] == ["d3/needle_in.py"]
    assert [match.text for match in await index.search("ndl")] == ["d3/needle_in.py"]
    assert len(await index.search("file", limit=50)) == 50
