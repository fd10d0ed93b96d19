"""Files in a git index, whose content commands such as `git diff --cached` show."""

from collections.abc import Collection, Iterator
from pathlib import Path

from kimi_tui.permission.bash.simple_command import SimpleCommand
from kimi_tui.permission.git_index_entries import read_names
from kimi_tui.permission.git_repository_scope import find_repository
from kimi_tui.permission.writable_roots import WorkingDir

_CONTENT_SUBCOMMANDS = frozenset(
    {
        "archive", "blame", "cat-file", "diff", "diff-files", "diff-index", "diff-tree", "format-patch",
        "grep",
        "log", "range-diff", "show", "stash", "whatchanged",
    }
)  # fmt: skip
_NAME_OPTIONS = frozenset(
    {"--name-only", "--name-status", "--numstat", "--oneline", "--shortstat", "--stat", "-c", "-l", "-s"}
)
_PATCH_OPTIONS = frozenset({"-p", "-u", "-G", "-S", "--patch"})


def indexed_files(command: SimpleCommand, folders: Collection[WorkingDir]) -> Iterator[Path]:
    """Yield the files whose tracked content a git command may show; none if it shows only names."""
    if command.program != "git" or not _shows_content([word.text for word in command.arguments]):
        return
    for folder in folders:
        for git_dir, work_tree in find_repository(folder) if folder is not None else ():
            for name in read_names(git_dir):
                yield work_tree / name


def _shows_content(texts: list[str]) -> bool:
    subcommand = next((text for text in texts if text in _CONTENT_SUBCOMMANDS), None)
    if subcommand is None:
        return False
    if subcommand in ("log", "stash", "whatchanged"):
        return any(text[:2] in _PATCH_OPTIONS or text in _PATCH_OPTIONS for text in texts)
    return not _NAME_OPTIONS.intersection(texts)
