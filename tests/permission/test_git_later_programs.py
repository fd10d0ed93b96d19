"""Which changed files count as making git run a program later."""

import shutil
import subprocess
from pathlib import Path

import pytest

from kimi_tui.permission.git_later_programs import (
    ChangedFile,
    find_later_programs,
    reason_for_writing,
    settings_name_programs,
)
from kimi_tui.permission.writable_roots import protected_reason


def changed_below(folder: Path) -> list[ChangedFile]:
    """Return all that is in a folder, as if a command had created it."""
    return [
        ChangedFile(path, str(path), is_link=path.is_symlink(), is_folder=path.is_dir())
        for path in folder.rglob("*")
    ]


@pytest.mark.skipif(shutil.which("git") is None, reason="git isn't installed")
def test_what_git_itself_writes_is_harmless(tmp_path: Path) -> None:
    commit = "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m"
    setup = (
        f"git init -q n; git init -q --bare bare; (cd n; {commit} 1; git branch x; git tag t; "
        "git worktree add -q ../tree x; git config user.name y; git stash list); git clone -q n clone; "
        "(cd clone; git -c protocol.file.allow=always submodule -q add ../n sub; git switch -qc topic; "
        f"{commit} 2; git -c user.name=a -c user.email=a@b rebase -q HEAD~1)"
    )
    subprocess.run(setup, shell=True, cwd=tmp_path, check=True, capture_output=True)
    assert find_later_programs(changed_below(tmp_path)) == {}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("n/.git/config", "[core]\n\tfsmonitor = touch x\n"),
        ("n/.git/config", "[include]\npath = x\n"),
        ("n/.git/config", "[includeIf \"gitdir:x\"]\npath = x\n"), ("n/.git/config", "[alias]\nx = !y\n"),
        ("n/.git/config", "[core] sshCommand = x\n"), ("n/.git/config", "[filter \"z\"] clean = x\n"),
        ("n/.git/config", "[a]\nb = \\\nc\n"), ("n/.git/config", "[remote \"o\"]\nurl = ext::sh -c x\n"),
        ("n/.git/config", "[unknown]\nsetting = 1\n"), ("n/.git/config", "no syntax"),
        ("n/.git/config.worktree", "[core]\nhooksPath = x\n"),
        ("n/.git/modules/s/config", "[diff]\nexternal = x\n"),
        ("n/.git/hooks/post-checkout", "#!/bin/sh\n"), ("n/.git/modules/s/hooks/pre-push", "x"),
        ("n/.git/commondir", "../x"), ("n/.git/worktrees/w/commondir", "../../../x"),
        ("n/.git", "gitdir: ../x"),
        ("n/.GIT/config", "[core]\nfsmonitor = x\n"), ("n/.git/remotes/o", "URL: x\n"),
        ("n/.git/rebase-merge/git-rebase-todo", "pick 1 a\nexec x\n"),
        ("n/.git/sequencer/todo", "x touch y\n"),
    ],
)  # fmt: skip
def test_a_file_that_names_a_program_or_another_repository_is_found(
    tmp_path: Path, name: str, text: str
) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True)
    path.write_text(text)
    assert set(find_later_programs([ChangedFile(path, str(path))])) == {path}


def test_a_link_in_or_named_as_a_git_directory_is_found(tmp_path: Path) -> None:
    links = [tmp_path / "n" / ".git", tmp_path / "m" / ".git" / "hooks"]
    for link in links:
        link.parent.mkdir(parents=True)
        link.symlink_to(tmp_path)
    assert set(find_later_programs([ChangedFile(link, str(link), is_link=True) for link in links])) == set(
        links
    )


@pytest.mark.parametrize("last", ["HEAD", "objects", "refs", "config"])
def test_the_change_that_completes_a_bare_repository_is_found(tmp_path: Path, last: str) -> None:
    for name in ("objects", "refs"):
        (tmp_path / "b" / name).mkdir(parents=True)
    (tmp_path / "b" / "HEAD").write_text("ref: refs/heads/a\n")
    (tmp_path / "b" / "config").write_text("[core]\nfsmonitor = x\n")
    path = tmp_path / "b" / last
    changed = ChangedFile(path, str(path), is_folder=path.is_dir())
    assert set(find_later_programs([changed])) == {path}
    shutil.rmtree(tmp_path / "b" / "objects")
    if last != "objects":
        assert find_later_programs([changed]) == {}


def test_settings_of_everyday_work_name_no_programs() -> None:
    assert not settings_name_programs(
        '[core]\n\tbare = false\n\tfsmonitor = true\n; comment\n[user] name = A\n[branch "x"]\n\tmerge = y\n'
        '[remote "origin"]\n\turl = git@github.com:a/b.git\n\tfetch = +refs/*:refs/*\n'
    )


BARE = ("HEAD", "objects/a/b/c/d", "refs/heads/a", "config")


@pytest.mark.parametrize("last", BARE)
def test_the_file_that_completes_a_bare_repository_is_protected(tmp_path: Path, last: str) -> None:
    """Its settings are those on the disk, except if these are what is written."""
    folder = tmp_path / "b"
    for name in BARE:
        assert not reason_for_writing(folder / name)
    for name in BARE:
        if name != last:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text("[core]\n\tfsmonitor = x\n")
    assert reason_for_writing(folder / last)
    assert protected_reason(folder / last)
    assert not reason_for_writing(folder / "src" / "config" / "a.py")
    if last != "config":
        (folder / "config").write_text("[core]\n\tbare = true\n")
        assert not reason_for_writing(folder / last)
