"""Git in a repository that came with the files would run what its configuration names: it is asked for."""

from pathlib import Path

import pytest

from kimi_tui.tools.approval import CommandSubject
from kimi_tui.tools.permission.places import Places
from kimi_tui.tools.permission.reading import only_reads
from kimi_tui.tools.permission.rulebook import RuleBook
from tests.tools.rules import rules_of

LOOKING = [
    "cd sub && git status",
    "git -C sub status",
    "git -C . -C sub log -1",
    "bash -c 'cd sub && git diff'",
    "cd sub; ls | head; git --no-pager show",
    "(cd sub && git status)",
]


@pytest.fixture
def work_dir(tmp_path: Path) -> Path:
    """A folder with a repository of its own, and a folder in it."""
    work = tmp_path / "work"
    (work / "sub").mkdir(parents=True)
    make_repository(work / ".git")
    return work


def make_repository(folder: Path, *, config: str = "") -> None:
    for name in ("objects", "refs"):
        (folder / name).mkdir(parents=True)
    (folder / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / "config").write_text(config)


def verdict(work_dir: Path, command: str, *rules: str) -> str | None:
    allow = rules or (
        "Bash(git status *)",
        "Bash(git diff *)",
        "Bash(git log *)",
        "Bash(git show *)",
        "Bash(git commit *)",
        "Bash(git add *)",
        "Bash(git *)",
        "Bash(cd *)",
        "Bash(ls *)",
        "Bash(head *)",
        "Bash(tar *)",
    )
    return rules_of(allow=allow, work_dir=work_dir).verdict(CommandSubject(command))


@pytest.mark.parametrize("command", LOOKING)
def test_git_in_a_folder_of_the_sessions_repository_is_as_granted(work_dir: Path, command: str) -> None:
    assert verdict(work_dir, command) == "allow"
    assert only_reads(command, Places.of(work_dir))


@pytest.mark.parametrize("command", LOOKING)
@pytest.mark.parametrize("kind", ["bare", "nested", "linked"])
def test_git_in_a_repository_that_came_with_the_files_is_asked_for(
    work_dir: Path, command: str, kind: str
) -> None:
    sub = work_dir / "sub"
    match kind:
        case "bare":
            make_repository(sub)
        case "nested":
            make_repository(sub / ".git")
        case "linked":
            make_repository(work_dir / "planted")
            (sub / ".git").write_text("gitdir: ../planted\n")
    assert verdict(work_dir, command) is None
    assert not only_reads(command, Places.of(work_dir))


def test_a_folder_within_a_planted_repository_is_asked_for_too(work_dir: Path) -> None:
    make_repository(work_dir / "sub")
    (work_dir / "sub" / "deep").mkdir()
    assert verdict(work_dir, "cd sub/deep && git status") is None


def test_a_work_dir_that_looks_like_a_repository_itself_is_asked_for(tmp_path: Path) -> None:
    make_repository(tmp_path)
    assert verdict(tmp_path, "git status") is None
    assert not only_reads("git status", Places.of(tmp_path))


def test_a_submodule_and_a_work_tree_of_the_repository_are_its_own(work_dir: Path) -> None:
    make_repository(work_dir / ".git" / "modules" / "sub")
    (work_dir / "sub" / ".git").write_text("gitdir: ../.git/modules/sub\n")
    assert verdict(work_dir, "cd sub && git status") == "allow"


def test_an_added_folders_repository_is_its_own(work_dir: Path, tmp_path: Path) -> None:
    make_repository(tmp_path / "added" / ".git")
    book = rules_of(
        allow=["Bash(git status *)", "Bash(git *)"],
        work_dir=work_dir,
        additional_dirs=(tmp_path / "added",),
    )
    assert book.verdict(CommandSubject(f"git -C {tmp_path}/added status")) == "allow"
    assert book.verdict(CommandSubject(f"git -C {tmp_path} status")) == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "tar -xf a && cd sub && git status",
        "cd sub && git checkout other && git status",
        "cd sub && git pull; git status",
    ],
)
def test_a_folder_that_may_become_a_repository_meanwhile_is_asked_for(work_dir: Path, command: str) -> None:
    assert verdict(work_dir, command) is None


def test_work_in_a_folder_goes_on_as_granted(work_dir: Path) -> None:
    assert verdict(work_dir, "cd sub && git add . && git commit -m done && git status") == "allow"
    assert verdict(work_dir, "tar -xf a -C sub && git status") == "allow"


@pytest.mark.parametrize(
    "command",
    ["git --git-dir=sub status", "git --git-dir sub status", "git --bare status", "git -C $x status"],
)
def test_git_that_is_told_where_its_repository_is_is_asked_for(work_dir: Path, command: str) -> None:
    assert verdict(work_dir, command) is None


def test_the_very_command_may_be_granted(work_dir: Path) -> None:
    make_repository(work_dir / "sub")
    book = RuleBook(work_dir=work_dir)
    granted = book.grant_for(CommandSubject("git -C sub status"))
    assert [str(rule) for rule in granted] == ["Bash(git -C sub status)"]
    assert book.with_allowed(*granted).verdict(CommandSubject("git -C sub status")) == "allow"


@pytest.mark.parametrize(
    "config",
    [
        "[core]\n\tfsmonitor = ./evil\n",
        "[core] FSMonitor=./evil\n",
        '[diff "x"]\n  textconv\t= evil\n',
        '[diff "x"] command = evil',
        "[diff]\r\n\texternal = evil\r\n",
        '[filter "x"]\n\tclean = git-lfs clean; evil\n',
        '[filter "lfs"]\n\tprocess = ./git-lfs filter-process\n',
        '[gpg "ssh"]\n\tprogram = evil\n',
        "[include]\n\tpath = ../evil\n",
        '[includeIf "gitdir:/"] path = ../evil\n',
        '[remote "origin"]\n\tpromisor = true\n\tuploadpack = evil\n',
        "[core]\n\thooksPath = planted\n",
    ],
)
def test_a_repository_of_the_sessions_own_that_names_programs_is_asked_for(
    work_dir: Path, config: str
) -> None:
    """As one that came in an archive; a clone has none."""
    (work_dir / "planted").mkdir()
    (work_dir / "planted" / "post-index-change").touch()
    (work_dir / ".git" / "config").write_text(config)
    for command in ("git status", "cd sub && git diff", "git log -1"):
        assert verdict(work_dir, command) is None
        assert not only_reads(command, Places.of(work_dir))
    assert verdict(work_dir, "git status", "Bash(git status)") == "allow", "the very command may be granted"


def test_so_is_one_with_such_a_submodule_hook_or_nested_repository(work_dir: Path) -> None:
    evil = "[core]\n\tfsmonitor = ./evil\n"
    git = work_dir / ".git"
    make_repository(git / "modules" / "a" / "b", config=evil)
    assert verdict(work_dir, "git status") is None
    (git / "modules" / "a" / "b" / "config").write_text("")
    assert verdict(work_dir, "git status") == "allow"

    make_repository(work_dir / "sub" / ".git", config=evil)
    assert verdict(work_dir, "git status") == "allow", "git passes over it"
    for flags in (b"\x00\x03", b"\x40\x03\x00\x00"):
        entry = bytes(24) + b"\x00\x00\xe0\x00" + bytes(12) + b"\xff" * 20 + flags + b"sub\x00"
        (git / "index").write_bytes(b"DIRC\x00\x00\x00\x03\x00\x00\x00\x01" + entry)
        assert verdict(work_dir, "git status") is None, "the index has it: git looks into it"
    (work_dir / "sub" / ".git" / "config").write_text("")
    assert verdict(work_dir, "git status") == "allow"

    (git / "hooks").mkdir()
    (git / "hooks" / "pre-commit").touch()
    assert verdict(work_dir, "git status") == "allow"
    (git / "hooks" / "post-index-change").touch()
    assert verdict(work_dir, "git status") is None


@pytest.mark.parametrize(
    "config",
    [
        "[core]\n\tbare = false\n\tfsmonitor = true\n\thooksPath = .husky/_\n\tsshCommand = ssh -i key\n",
        '[filter "lfs"]\n\tclean = git-lfs clean -- %f\n\tsmudge = git-lfs smudge -- %f\n'
        "\tprocess = git-lfs filter-process\n\trequired = true\n",
        '[filter "git-crypt"]\n\tclean = \\"git-crypt\\" clean\n[diff "git-crypt"]\n'
        '\ttextconv = \\"git-crypt\\" diff\n',
        '[diff "jupyternotebook"]\n\tcommand = git-nbdiffdriver diff\n',
        '[remote "origin"]\n\turl = https://host/process.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n'
        '[branch "clean"]\n\tremote = origin\n\tmerge = refs/heads/clean\n',
    ],
)
def test_what_everyday_repositories_have_is_no_such_program(work_dir: Path, config: str) -> None:
    (work_dir / ".git" / "config").write_text(config)
    assert verdict(work_dir, "git status") == "allow"
