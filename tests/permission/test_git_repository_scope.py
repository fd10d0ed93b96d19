"""Git commands need approval in a repository that came with the project's files and may run its programs."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from kimi_tui.permission.bash.command_line import parse_command
from kimi_tui.permission.read_only_commands import is_read_only
from kimi_tui.permission.rule_set import RuleSet
from kimi_tui.permission.writable_roots import WritableRoots
from tests.tools.rule_sets import build_rule_set, grant_for, verdict_on

READ_COMMANDS = [
    "cd sub && git status",
    "git -C sub status",
    "git -C . -C sub log -1",
    "bash -c 'cd sub && git diff'",
    "cd sub; ls | head; git --no-pager show",
    "(cd sub && git status)",
]


@pytest.fixture
def work_dir(tmp_path: Path) -> Path:
    """Return a folder with a repository, and a folder inside it."""
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
    return verdict_on(build_rule_set(allow=allow, work_dir=work_dir), command)


@pytest.mark.parametrize("command", READ_COMMANDS)
def test_git_is_allowed_in_a_folder_of_the_sessions_repository(work_dir: Path, command: str) -> None:
    assert verdict(work_dir, command) == "allow"
    assert is_read_only(parse_command(command), WritableRoots.resolve(work_dir))


@pytest.mark.parametrize("command", READ_COMMANDS)
@pytest.mark.parametrize("kind", ["bare", "nested", "linked"])
def test_git_needs_approval_in_a_repository_that_came_with_the_files(
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
    assert not is_read_only(parse_command(command), WritableRoots.resolve(work_dir))


def test_git_needs_approval_in_a_folder_inside_a_planted_repository(work_dir: Path) -> None:
    make_repository(work_dir / "sub")
    (work_dir / "sub" / "deep").mkdir()
    assert verdict(work_dir, "cd sub/deep && git status") is None


def test_git_needs_approval_if_the_working_directory_is_a_bare_repository(tmp_path: Path) -> None:
    make_repository(tmp_path)
    assert verdict(tmp_path, "git status") is None
    assert not is_read_only(parse_command("git status"), WritableRoots.resolve(tmp_path))


def test_git_is_allowed_in_a_submodule_of_the_sessions_repository(work_dir: Path) -> None:
    make_repository(work_dir / ".git" / "modules" / "sub")
    (work_dir / "sub" / ".git").write_text("gitdir: ../.git/modules/sub\n")
    assert verdict(work_dir, "cd sub && git status") == "allow"


def test_git_is_allowed_in_the_repository_of_an_added_folder(work_dir: Path, tmp_path: Path) -> None:
    make_repository(tmp_path / "added" / ".git")
    rules = build_rule_set(
        allow=["Bash(git status *)", "Bash(git *)"],
        work_dir=work_dir,
        additional_dirs=(tmp_path / "added",),
    )
    assert verdict_on(rules, f"git -C {tmp_path}/added status") == "allow"
    assert verdict_on(rules, f"git -C {tmp_path} status") == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "tar -xf a && cd sub && git status",
        "cd sub && git checkout other && git status",
        "cd sub && git pull; git status",
    ],
)
def test_git_needs_approval_in_a_folder_that_an_earlier_command_may_make_a_repository(
    work_dir: Path, command: str
) -> None:
    assert verdict(work_dir, command) is None


def test_git_is_allowed_after_commands_that_create_no_repository(work_dir: Path) -> None:
    assert verdict(work_dir, "cd sub && git add . && git commit -m done && git status") == "allow"
    assert verdict(work_dir, "tar -xf a -C sub && git status") == "allow"


ADDING = [
    "git add sub && git status",
    "git add . && git commit -m done",
    "git -C . add -A; ls; git diff",
    "cd sub/.. && git add sub && git log -1",
]


@pytest.mark.parametrize("command", ADDING)
@pytest.mark.parametrize(
    "config",
    ["[core]\n\tfsmonitor = ./x", '[filter "a"]\n\tclean = ./x', "[include]\n\tpath = ../y", "linked"],
)
def test_git_needs_approval_after_adding_a_nested_repository_that_runs_programs(
    work_dir: Path, command: str, config: str
) -> None:
    if config == "linked":
        (work_dir / "sub" / ".git").write_text("gitdir: ../planted\n")
    else:
        make_repository(work_dir / "sub" / ".git", config=config)
    assert verdict(work_dir, command) is None
    for part in ("git status", "git add sub", "git commit -m x"):
        assert verdict(work_dir, part) == "allow"


CREATING_AND_ADDING = [
    "tar -xf a -C new && git add . && git commit -m x",
    "unzip a -d new; git add new; git status",
    "cp -r ok new && git add -A && git diff",
    "mytool new && git add . && git status",
    "tar -xf a -C new && git checkout other",
    "tar -xf a -C new && git add . && git add .",
    "mv ok new | git stash pop; git status",
]


@pytest.mark.parametrize("command", CREATING_AND_ADDING)
def test_git_needs_approval_after_recording_a_repository_that_the_same_line_may_create(
    work_dir: Path, command: str
) -> None:
    rules = ("Bash(git *)", "Bash(git status *)", "Bash(git diff *)", "Bash(mytool *)")
    rules = (*rules, "Bash(tar *)", "Bash(unzip *)", "Bash(cp *)", "Bash(mv *)")
    assert verdict(work_dir, command, *rules) is None
    parts = [part.strip() for part in re.split(r"&&|;|\|", command)]
    assert {part: verdict(work_dir, part, *rules) for part in parts} == dict.fromkeys(parts, "allow")


def test_programs_that_create_no_repository_need_no_approval(work_dir: Path) -> None:
    rules = ("Bash(pytest *)", "Bash(ruff *)", "Bash(mkdir *)", "Bash(git add *)", "Bash(git commit *)")
    command = "ruff check . && pytest -q && mkdir new && git add -A && git commit -m x"
    assert verdict(work_dir, command, *rules) == "allow"


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


def create_nested(folder: Path, *, config: str = "") -> None:
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "x")
    with (folder / ".git" / "config").open("a") as file:
        file.write(config)


@pytest.mark.parametrize(
    "setup", [("update-index", "--index-version=4"), ("update-index", "--split-index"), ()]
)
@pytest.mark.parametrize("kind", ["own", "deep", "commondir", "gitfile", "link"])
def test_git_needs_approval_if_its_index_records_a_repository_that_runs_programs(
    tmp_path: Path, kind: str, setup: tuple[str, ...]
) -> None:
    """The repositories are made by git itself, with all formats of its index."""
    evil = "[core]\n\tfsmonitor = ./evil\n"
    work = tmp_path / "work"
    create_nested(work)
    (work / "file").touch()
    create_nested(work / "sub")
    if kind == "deep":
        create_nested(work / "sub" / "deep")
        git(work / "sub", "add", "deep")
        git(work / "sub", "commit", "-qm", "x")
    git(work, "add", ".")
    if setup:
        git(work, *setup)
    assert verdict(work, "git status") == "allow"
    nested = work / "sub" / ".git"
    match kind:
        case "own":
            (nested / "config").write_text(evil)
        case "deep":
            (work / "sub" / "deep" / ".git" / "config").write_text(evil)
        case "commondir":
            shutil.copytree(nested, work / "common")
            (work / "common" / "config").write_text(evil)
            (nested / "commondir").write_text("../../common\n")
        case "gitfile":
            nested.rename(work / "data")
            nested.write_text("gitdir: ../data\n")
        case "link":
            nested.rename(work / "data")
            nested.symlink_to(work / "data")
    assert verdict(work, "git status") is None
    assert verdict(work, "git status", "Bash(git status)") == "allow"


def test_git_needs_approval_before_it_checks_out_a_repository_that_runs_programs(work_dir: Path) -> None:
    """`git checkout` runs `git status` in the repositories that a branch records."""
    make_repository(work_dir / "sub" / ".git", config="[core]\n\tfsmonitor = ./x")
    for command in ("git checkout topic", "git switch topic", "git stash pop", "git merge topic"):
        assert verdict(work_dir, command) is None
    (work_dir / "sub" / ".git" / "config").write_text("")
    assert verdict(work_dir, "git checkout topic") == "allow"


def test_git_needs_approval_if_a_submodule_may_be_filled_by_the_same_line(tmp_path: Path) -> None:
    work = tmp_path / "work"
    create_nested(work)
    create_nested(work / "sub")
    git(work, "add", "sub")
    shutil.rmtree(work / "sub" / ".git")
    assert verdict(work, "git status") == "allow"
    assert verdict(work, "tar -xf a -C sub && git status") is None


def test_git_is_allowed_with_real_submodules(tmp_path: Path) -> None:
    work = tmp_path / "work"
    create_nested(work)
    create_nested(tmp_path / "other")
    git(work, "-c", "protocol.file.allow=always", "submodule", "add", "-q", "../other", "sub")
    for command in ("git status", "git add . && git commit -m x", "git checkout topic && git status"):
        assert verdict(work, command) == "allow"
    (work / ".git" / "modules" / "sub" / "config").write_text("[core]\n\tfsmonitor = ./evil\n")
    assert verdict(work, "git status") is None


@pytest.mark.parametrize("command", ADDING)
def test_git_is_allowed_after_adding_a_nested_repository_without_programs(
    work_dir: Path, command: str
) -> None:
    make_repository(work_dir / "sub" / ".git", config="[core]\n\tbare = false\n")
    assert verdict(work_dir, command) == "allow"


@pytest.mark.parametrize(
    "command",
    ["git --git-dir=sub status", "git --git-dir sub status", "git --bare status", "git -C $x status"],
)
def test_git_needs_approval_if_options_name_the_repository(work_dir: Path, command: str) -> None:
    assert verdict(work_dir, command) is None


def test_the_exact_command_can_be_granted(work_dir: Path) -> None:
    make_repository(work_dir / "sub")
    rules = RuleSet(work_dir=work_dir)
    grant = grant_for(rules, "git -C sub status")
    assert [str(rule) for rule in grant] == ["Bash(git -C sub status)"]
    assert verdict_on(rules.with_allowed(*grant), "git -C sub status") == "allow"


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
def test_git_needs_approval_if_the_sessions_repository_runs_programs(work_dir: Path, config: str) -> None:
    """A repository from an archive may have such a configuration; a clone doesn't."""
    (work_dir / "planted").mkdir()
    (work_dir / "planted" / "post-index-change").touch()
    (work_dir / ".git" / "config").write_text(config)
    for command in ("git status", "cd sub && git diff", "git log -1"):
        assert verdict(work_dir, command) is None
        assert not is_read_only(parse_command(command), WritableRoots.resolve(work_dir))
    assert verdict(work_dir, "git status", "Bash(git status)") == "allow", "the exact command can be granted"


def test_git_needs_approval_if_a_submodule_nested_repository_or_hook_runs_programs(work_dir: Path) -> None:
    evil = "[core]\n\tfsmonitor = ./evil\n"
    git = work_dir / ".git"
    make_repository(git / "modules" / "a" / "b", config=evil)
    assert verdict(work_dir, "git status") is None
    (git / "modules" / "a" / "b" / "config").write_text("")
    assert verdict(work_dir, "git status") == "allow"

    make_repository(work_dir / "sub" / ".git", config=evil)
    assert verdict(work_dir, "git status") == "allow", "git ignores a repository that isn't in the index"
    for flags in (b"\x00\x03", b"\x40\x03\x00\x00"):
        entry = bytes(24) + b"\x00\x00\xe0\x00" + bytes(12) + b"\xff" * 20 + flags + b"sub\x00"
        (git / "index").write_bytes(b"DIRC\x00\x00\x00\x03\x00\x00\x00\x01" + entry)
        assert verdict(work_dir, "git status") is None, "git reads a repository that is in the index"
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
def test_git_is_allowed_with_common_repository_configuration(work_dir: Path, config: str) -> None:
    (work_dir / ".git" / "config").write_text(config)
    assert verdict(work_dir, "git status") == "allow"
