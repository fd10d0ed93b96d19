"""What a wildcard rule covers: the arguments after its own, if they are known to be safe."""

from collections.abc import Collection

from kimi_tui.base.message_text import msg
from kimi_tui.permission.bash.simple_command import SimpleCommand, Word
from kimi_tui.permission.file_bounds import FileBounds
from kimi_tui.permission.safe_options import UnsafeArgument, check_arguments, find_safe_options
from kimi_tui.permission.special_arguments import has_special_arguments, special_path_words
from kimi_tui.permission.writable_roots import WorkingDir


def find_coverage_problem(
    command: SimpleCommand, n_known: int, bounds: FileBounds, folders: Collection[WorkingDir]
) -> str | None:
    """Return why a rule for the first `n_known` words of `command` doesn't cover the rest; None if it does.

    Options must be known to be safe, and files must be in the bounds. For a program that isn't known, the
    rule's author decided about its options; its arguments must be known before it runs.
    """
    words = _path_words(command, n_known)
    if isinstance(words, str):
        return words
    outside = next((word for word in words if not bounds.contain_words((word,), folders)), None)
    if outside is None:
        return None
    if outside.kind == "unknown":
        return msg("{argument} isn't known before the command runs", argument=outside.text)
    return msg("{argument} is outside the directories that a rule with * covers", argument=outside.text)


def _path_words(command: SimpleCommand, n_known: int) -> tuple[Word, ...] | str:
    """Return the arguments that may name files, or why one of them isn't covered."""
    if has_special_arguments(command.program):
        special = special_path_words(command.program, command.arguments)
        if special is None:
            return msg("with these arguments, {program} may do more than read", program=command.program)
        return special
    if find_safe_options(command.words, n_known=n_known) is not None:
        checked = check_arguments(command, n_known)
        if not isinstance(checked, UnsafeArgument):
            return checked.path_words
        if not checked.text:
            return msg("this subcommand of {program} isn't known", program=command.program)
        return msg(
            "{argument} isn't known to be safe for {program}", argument=checked.text, program=command.program
        )
    rest = command.words[n_known:]
    unknown = next((word for word in rest if not (word.is_literal or word.cannot_be_option)), None)
    if unknown is not None:
        return msg("{argument} isn't known before the command runs", argument=unknown.text)
    return rest
