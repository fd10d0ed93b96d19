"""Files that a command may read or change, for ask and deny rules: in doubt, a rule applies."""

import os
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Literal

from kimi_tui.permission.bash.command_line import BashCommandLine
from kimi_tui.permission.bash.simple_command import SimpleCommand, Word
from kimi_tui.permission.git_index import indexed_files
from kimi_tui.permission.named_files import expand_files, is_find_placeholder
from kimi_tui.permission.path_pattern import matches_path
from kimi_tui.permission.recursive_reads import recursive_read_of
from kimi_tui.permission.rule import PathRule
from kimi_tui.permission.secret_reads import NAME_ONLY_PROGRAMS, PRINTING_PROGRAMS
from kimi_tui.permission.writable_roots import WorkingDir, WritableRoots, is_harmless_device
from kimi_tui.permission.write_targets import operands_of, write_targets

Match = Literal["yes", "maybe", "no"]

_TREE_PROGRAMS = frozenset({"chgrp", "chmod", "chown", "find", "git", "mv", "rename", "rm", "srm", "trash"})
"""Programs that change everything in a directory they are given."""
_ARCHIVE_PROGRAMS = frozenset({"cp", "install", "rsync", "tar", "zip"})
_PATCH_PROGRAMS = frozenset({"patch", "cpio"})
_GIT_WRITERS = frozenset({"checkout", "mv", "restore", "rm"})
_GIT_PATCHERS = frozenset({"am", "apply"})
_MAX_ENTRIES = 10_000


def match_touched_files(rule: PathRule, line: BashCommandLine, writable_roots: WritableRoots) -> Match:
    """Return whether a command of `line` writes, or for a Read rule reads, a file that `rule` matches."""
    folders = writable_roots.working_dirs_of(line.commands)
    files = _MatchingFiles(rule, writable_roots)
    find = _match_writes if rule.access == "Edit" else _match_reads
    matches = {find(files, command, folders) for command in (*line.commands, *line.suspects)}
    return "yes" if "yes" in matches else "maybe" if "maybe" in matches else "no"


class _MatchingFiles:
    """The files that a rule matches."""

    def __init__(self, rule: PathRule, writable_roots: WritableRoots) -> None:
        self._pattern = rule.pattern
        self.roots = writable_roots

    def include(self, path: Path) -> bool:
        """Return whether the rule matches `path`, or everything in the directory `path`."""
        return self._matches(path) or self._matches(path / "any")

    def any_below(self, folder: Path) -> bool:
        """Return whether the rule matches a file below `folder`. Looks at a limited number of files."""
        return any(map(self._matches, _walk(folder)))

    def _matches(self, path: Path) -> bool:
        return matches_path(self._pattern, path, self.roots.work_dir, ignoring_case=True)


def _match_reads(files: _MatchingFiles, command: SimpleCommand, folders: Collection[WorkingDir]) -> Match:
    result: Match = "no"
    words = (*command.arguments, *(each.target for each in command.redirections if each.reads))
    for word in words:
        paths = expand_files(word, folders)
        if paths is None:
            prints = command.program in PRINTING_PROGRAMS and not is_find_placeholder(word)
            result = "maybe" if prints else result
        elif any(files.include(_real_path(path)) for path in paths):
            return "yes"
    if any(word.prefix.startswith("--files0") for word in command.arguments):
        return "maybe"
    in_tree = _reads_tree(files, command, folders) or any(map(files.include, indexed_files(command, folders)))
    return "maybe" if in_tree else result


def _reads_tree(files: _MatchingFiles, command: SimpleCommand, folders: Collection[WorkingDir]) -> bool:
    recursive = recursive_read_of(command, name_only_programs=NAME_ONLY_PROGRAMS)
    if recursive is not None:
        words, default = recursive.roots, not recursive.roots and not recursive.requires_roots
    elif command.program in _ARCHIVE_PROGRAMS:
        words, default = command.arguments, False
    else:
        return False
    roots = [path for word in words for path in expand_files(word, folders) or ()]
    if default:
        roots = [folder for folder in folders if folder is not None]
    return any(files.any_below(_real_path(root)) for root in roots)


def _match_writes(files: _MatchingFiles, command: SimpleCommand, folders: Collection[WorkingDir]) -> Match:
    result: Match = "maybe" if _writes_unnamed(command) else "no"
    for word in _written_words(command):
        targets = files.roots.resolve_word(word, folders) if word.is_literal else expand_files(word, folders)
        if targets is None:
            result = "maybe"
            continue
        paths = [_real_path(path) for path in targets]
        if any(map(files.include, paths)):
            return "yes"
        if command.program in _TREE_PROGRAMS and any(map(files.any_below, paths)):
            return "yes"
    return result


def _written_words(command: SimpleCommand) -> Iterable[Word]:
    yield from write_targets(command)
    yield from (
        each.target for each in command.redirections if each.writes and not is_harmless_device(each.target)
    )
    operands = operands_of(command.arguments, ())
    if command.program == "git" and operands and operands[0].text in _GIT_WRITERS:
        yield from operands[1:]
    if command.program == "find" and any(word.text == "-delete" for word in command.arguments):
        yield from operands[:1]


def _writes_unnamed(command: SimpleCommand) -> bool:
    """Return whether a patch or an archive decides which files `command` writes."""
    if command.program == "git":
        return any(word.text in _GIT_PATCHERS for word in command.arguments[:1])
    return command.program in _PATCH_PROGRAMS


def _walk(folder: Path) -> Iterator[Path]:
    """Yield the files below `folder`, which need not exist, at most `_MAX_ENTRIES`."""
    n_files = 0
    for root, _, names in os.walk(folder):
        for name in names:
            n_files += 1
            if n_files > _MAX_ENTRIES:
                return
            yield Path(root, name)


def _real_path(path: Path) -> Path:
    try:
        return Path(os.path.realpath(path))
    except ValueError:  # a NUL byte
        return path
