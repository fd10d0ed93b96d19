"""Commands that can only read, whatever is in the files they read.

A command that isn't known to be harmless counts as a change: in doubt, it isn't allowed.
"""

import re
from collections.abc import Mapping

from kimi_tui.permission.bash.command_line import BashCommandLine
from kimi_tui.permission.bash.simple_command import SimpleCommand
from kimi_tui.permission.git_read_only import is_git_read_only
from kimi_tui.permission.git_repository_scope import git_stays_in_work_dir
from kimi_tui.permission.safe_options import CheckedArguments, check_arguments
from kimi_tui.permission.special_arguments import has_special_arguments, special_path_words
from kimi_tui.permission.writable_roots import WritableRoots, is_harmless_device, may_be_network_file

_EXACT_ARGUMENTS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "docker": (("images",), ("ps",), ("version",)),
    "env": ((),),
    "go": (("version",), ("env",)),
    "hostname": ((),),
    "java": (("-version",), ("--version",)),
    "node": (("--version",), ("-v",)),
    "npm": (("--version",), ("-v",)),
    "pip": (("--version",), ("list",), ("freeze",)),
    "pip3": (("--version",), ("list",), ("freeze",)),
    "python": (("--version",), ("-V",)),
    "python3": (("--version",), ("-V",)),
    "ruby": (("--version",), ("-v",)),
    "uv": (("--version",),),
}  # fmt: skip
"""Programs that are read-only with exactly these arguments."""

_SYSTEM_PATH = re.compile(r"(?:/usr)?/bin/[^/]+")


def is_read_only(line: BashCommandLine, writable_roots: WritableRoots) -> bool:
    """Return whether a bash command line can only read. False if it can't be parsed."""
    if not line.commands or line.unparsable_reason or not all(map(is_read_only_command, line.commands)):
        return False
    return git_stays_in_work_dir(line.commands, writable_roots, is_read_only_command)


def is_read_only_command(command: SimpleCommand) -> bool:
    """Return whether a simple command can only read. Git commands assume a trusted repository."""
    if any(each.writes and not is_harmless_device(each.target) for each in command.redirections):
        return False
    if any(each.reads and may_be_network_file(each.target) for each in command.redirections):
        return False
    if not all(each.is_harmless for each in command.assignments):
        return False
    if not command.words:
        return True
    if command.head is None or (command.head != command.program and not _SYSTEM_PATH.fullmatch(command.head)):
        return False  # a path or an expansion may name any program
    return _is_read_only_program(command)


def _is_read_only_program(command: SimpleCommand) -> bool:
    arguments = command.arguments
    if command.program == "git":
        return is_git_read_only(arguments)
    if command.program == "command":
        return bool(arguments) and arguments[0].is_literal and arguments[0].text in ("-v", "-V")
    if has_special_arguments(command.program):
        return special_path_words(command.program, arguments) is not None
    if (allowed := _EXACT_ARGUMENTS.get(command.program)) is not None and any(
        tuple(word.text for word in arguments) == words for words in allowed
    ):
        return all(word.is_literal for word in arguments)
    checked = check_arguments(command, any_file=True)
    return (
        isinstance(checked, CheckedArguments) and checked.safe_options.reads_only and not checked.runs_others
    )
