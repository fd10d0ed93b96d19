"""What a wildcard rule covers: the words after its own, if they are known to be safe."""

from collections.abc import Collection

from kimi_tui.permission.bash.simple_command import SimpleCommand, Word
from kimi_tui.permission.file_bounds import FileBounds
from kimi_tui.permission.safe_options import check_arguments, find_safe_options
from kimi_tui.permission.special_arguments import has_special_arguments, special_path_words
from kimi_tui.permission.writable_roots import WorkingDir


def covers_arguments(
    command: SimpleCommand, n_known: int, bounds: FileBounds, folders: Collection[WorkingDir]
) -> bool:
    """Return whether a rule for the first `n_known` words of `command` also covers the rest.

    Options must be known to be safe, and files must be in the bounds. For a program that isn't known, the
    rule's author decided about its options; its words must be known before it runs.
    """
    words = _path_words(command, n_known)
    return words is not None and bounds.contain_words(words, folders)


def _path_words(command: SimpleCommand, n_known: int) -> tuple[Word, ...] | None:
    if has_special_arguments(command.program):
        return special_path_words(command.program, command.arguments)
    if find_safe_options(command.words, n_known=n_known) is not None:
        checked = check_arguments(command, n_known)
        return None if checked is None else checked.path_words
    rest = command.words[n_known:]
    return rest if all(word.is_literal or word.cannot_be_option for word in rest) else None
