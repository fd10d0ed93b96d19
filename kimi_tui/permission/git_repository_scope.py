"""Check of which repository a git command works in.

A repository's configuration names programs that git runs: `core.fsmonitor`, `diff.external`, filters and
hooks run even for `git status` and `git diff`. Any directory with the right file names is a repository, so
one that is part of the project's files must not run its programs without approval.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from kimi_tui.permission.bash.simple_command import SimpleCommand
from kimi_tui.permission.git_config_programs import (
    config_runs_programs,
    index_has_repositories,
    nested_repository_runs_programs,
    read_gitfile,
)
from kimi_tui.permission.safe_options import GIT_GLOBAL_FLAGS
from kimi_tui.permission.writable_roots import WorkingDir, WritableRoots

_INFO_OPTIONS = frozenset({"--version", "--help", "--html-path", "--man-path", "--info-path"})
_KEEPS_WORK_TREE = frozenset({"add", "commit", "fetch", "init", "push", "tag"})
"""Subcommands that don't change the work tree, so none of its directories can become a repository."""
_KEEPS_INDEX_ENTRIES = _KEEPS_WORK_TREE - {"add"}
"""Subcommands that record no repository in the index."""
_CREATE_NO_REPOSITORY = frozenset(
    {
        "ant", "black", "bun", "c++", "cargo", "cc", "chmod", "clang", "clang++", "cmake", "ctest", "eslint",
        "fab", "flake8", "g++", "gcc", "gmake", "go", "gradle", "gradlew", "invoke", "jest", "just", "make",
        "mkdir", "mvn", "mvnw", "mypy", "ninja", "nox", "npm", "pnpm", "prettier", "pylint", "pyright",
        "pytest", "rake", "rm", "rmdir", "ruff", "task", "touch", "tox", "truncate", "tsc", "unittest",
        "vitest", "yarn",
    }
)  # fmt: skip
"""Programs that write no file with content from elsewhere, or run the project's code, which could do anything
itself."""
_BARE_REPOSITORY_NAMES = ("HEAD", "objects", "refs")


def git_stays_in_work_dir(
    commands: Sequence[SimpleCommand],
    writable_roots: WritableRoots,
    is_read_only: Callable[[SimpleCommand], bool],
) -> bool:
    """Return whether every git command in `commands` works in one of the session's own repositories.

    A session's own repository contains the working directory or an additional one, or is part of such a
    repository, such as a submodule, and its configuration runs no programs. Commands run in order: a
    directory that an earlier command may turn into a repository doesn't qualify. Git also reads the
    configuration of the nested repositories that its index records, so none of these may be new or name
    programs.
    """
    if not any(command.program == "git" for command in commands):
        return True
    if any(
        command.program == "find" and _has_argument(command, "-execdir", "-okdir") for command in commands
    ):
        return False
    roots = (writable_roots.work_dir, *writable_roots.additional_dirs)
    repositories = [
        (git_dir, work_tree)
        for root in roots
        for git_dir, work_tree in find_repository(root)
        if not _is_session_writable(git_dir, writable_roots)
    ]
    if any(config_runs_programs(git_dir, work_tree) for git_dir, work_tree in repositories):
        return False
    session_git_dirs = {git_dir for git_dir, _ in repositories}
    folders = writable_roots.working_dirs_of(commands)
    files_unchanged = True
    has_links = may_record = may_create = False
    for command in commands:
        if command.program == "git":
            subcommand = _subcommand(command)
            keeps_entries = subcommand in _KEEPS_INDEX_ENTRIES or is_read_only(command)
            may_record |= not keeps_entries and subcommand != "add"
            if may_create and not has_links:
                has_links = any(index_has_repositories(git_dir) for git_dir, _ in repositories)
            if may_create and (may_record or has_links):
                return False
            if may_record and any(nested_repository_runs_programs(tree) for _, tree in repositories):
                return False
            may_record |= not keeps_entries
            start_dirs = _start_dirs(command, folders)
            if start_dirs is None:
                return False
            for folder in start_dirs:
                git_dir = _find_git_dir(folder)
                if git_dir is not None and not any(git_dir.is_relative_to(it) for it in session_git_dirs):
                    return False
                if not files_unchanged and (git_dir is None or folder not in roots):
                    return False
        if command.program == "git":
            keeps_files = is_read_only(command) or _subcommand(command) in _KEEPS_WORK_TREE
        else:
            keeps_files = is_read_only(command)
            may_create |= not keeps_files and command.program not in _CREATE_NO_REPOSITORY
        files_unchanged &= keeps_files
    return True


def _is_session_writable(git_dir: Path, writable_roots: WritableRoots) -> bool:
    """Return whether commands that may change the session's files may change the repository in `git_dir`."""
    return writable_roots.contains(git_dir) and ".git" not in git_dir.parts


def _find_git_dir(folder: Path) -> Path | None:
    """Return the git directory that git finds from `folder`, with links resolved; None if it finds none."""
    return next((git_dir for git_dir, _ in find_repository(folder)), None)


def find_repository(folder: Path) -> Iterator[tuple[Path, Path]]:
    """Yield the git directory and the work tree of the repository that git finds from `folder`, if any."""
    for ancestor in (folder, *folder.parents):
        dot_git = ancestor / ".git"
        try:
            if dot_git.is_dir():
                yield dot_git.resolve(), ancestor
                return
            if dot_git.is_file():
                yield read_gitfile(dot_git), ancestor
                return
            if _is_bare(ancestor):
                yield ancestor.resolve(), ancestor
                return
        except (OSError, ValueError):
            yield dot_git, ancestor
            return


def _is_bare(folder: Path) -> bool:
    return all((folder / name).exists() for name in _BARE_REPOSITORY_NAMES)


def _start_dirs(command: SimpleCommand, folders: Sequence[WorkingDir]) -> list[Path] | None:
    """Return the directories where git starts its search for a repository; None if options name it."""
    start_dirs = list(folders)
    words = list(command.arguments)
    while words and words[0].prefix.startswith("-"):
        option = words.pop(0)
        if option.text == "-C" and words and words[0].is_literal:
            step = words.pop(0).text
            start_dirs = [None if folder is None else (folder / step).resolve() for folder in start_dirs]
        elif option.text in _INFO_OPTIONS:
            return []
        elif option.text not in GIT_GLOBAL_FLAGS:
            return None
    known = [folder for folder in start_dirs if folder is not None]
    return known if len(known) == len(start_dirs) else None


def _subcommand(command: SimpleCommand) -> str:
    words = list(command.arguments)
    while words and words[0].prefix.startswith("-"):
        del words[: 2 if words[0].text == "-C" else 1]
    return words[0].text if words and words[0].is_literal else ""


def _has_argument(command: SimpleCommand, *texts: str) -> bool:
    return any(word.text in texts for word in command.arguments)
