"""The file index behind `@`."""

import os
import subprocess
from pathlib import Path

import pytest

from kimi_tui.tui.prompt.files import FileIndex, listed


def make(root: Path, *paths: str) -> None:
    for path in paths:
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    make(tmp_path, "src/auth.py", "src/deep/er/view.py", "README.md", "build/out.js", "notes.log")
    (tmp_path / ".gitignore").write_text("build/\n*.log\n")
    return tmp_path


def test_git_decides_what_is_ignored(repository: Path) -> None:
    found = listed(repository)
    assert "src/auth.py" in found
    assert not any("build" in path or "notes" in path for path in found)


def test_folders_are_listed_with_a_slash(repository: Path) -> None:
    assert {"src/", "src/deep/", "src/deep/er/"} <= set(listed(repository))


def test_a_part_of_a_repository_lists_its_own_files(repository: Path) -> None:
    assert "auth.py" in listed(repository / "src")


@pytest.mark.parametrize("bare", [False, True])
def test_listing_runs_no_program_that_the_repository_names(tmp_path: Path, *, bare: bool) -> None:
    work, trace, program = tmp_path / "work", tmp_path / "ran", tmp_path / "evil"
    program.write_text(f"#!/bin/sh\necho ran >>'{trace}'\nprintf '/\\0'\n")
    program.chmod(0o755)
    git = ["git", "-C", str(work), *([] if bare else ["-c", "core.fsmonitor=false"])]
    subprocess.run(["git", "init", "-q", *(["--bare"] if bare else []), work], check=True)
    make(work, "a.py", "sub/b.py")
    subprocess.run([*git, "config", "core.fsmonitor", program], check=True)
    subprocess.run([*git, "config", "core.untrackedCache", "true"], check=True)
    if bare:
        subprocess.run([*git, "config", "core.bare", "false"], check=True)
        subprocess.run([*git, "config", "core.worktree", "."], check=True)
    subprocess.run(["git", "ls-files", "--others"], cwd=work, check=True, capture_output=True)
    assert trace.exists(), "the trap is none"
    trace.unlink()
    assert "a.py" in listed(work)
    assert not trace.exists()


def test_without_git_the_usual_heaps_are_left_out(tmp_path: Path) -> None:
    make(tmp_path, "a.py", "node_modules/x/index.js", ".cache/y", "sub/b.py", ".env")
    assert set(listed(tmp_path)) == {"a.py", ".env", "sub/", "sub/b.py"}


def test_names_that_no_prompt_could_hold_are_left_out(tmp_path: Path) -> None:
    make(tmp_path, "fine.txt", "new\nline.txt", "esc\x1b[31m.txt")
    (Path(os.fsdecode(os.fsencode(tmp_path) + b"/bad\xff.txt"))).write_text("x")
    assert listed(tmp_path) == ["fine.txt"]


async def test_the_best_match_comes_first(repository: Path) -> None:
    index = FileIndex(repository)
    await index.refresh()
    assert (await index.search("auth"))[0].text == "src/auth.py"
    assert (await index.search("vw"))[0].text == "src/deep/er/view.py"
    assert await index.search("zzz") == []


async def test_nothing_typed_lists_what_lies_on_top(repository: Path) -> None:
    index = FileIndex(repository)
    await index.refresh()
    assert [match.text for match in await index.search("")] == [".gitignore", "README.md", "src/"]


async def test_the_list_is_made_anew_only_when_it_is_old(repository: Path) -> None:
    now = 0.0
    index = FileIndex(repository, clock=lambda: now)
    assert await index.refresh()
    make(repository, "later.py")
    assert not await index.refresh()
    assert await index.search("later") == []
    now = 60.0
    assert await index.refresh()
    assert [match.text for match in await index.search("later")] == ["later.py"]


async def test_every_match_is_found_among_many_files(tmp_path: Path) -> None:
    make(tmp_path, *(f"d{number % 7}/file_{number}.txt" for number in range(300)), "d3/needle_in.py")
    index = FileIndex(tmp_path)
    await index.refresh()
    assert [match.text for match in await index.search("needle")] == ["d3/needle_in.py"]
    assert [match.text for match in await index.search("ndl")] == ["d3/needle_in.py"]
    assert len(await index.search("file", limit=50)) == 50
