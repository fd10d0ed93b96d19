"""A bash command line, parsed far enough to know which programs it runs and where it writes."""

import re
from collections.abc import Iterable
from itertools import islice

from kimi_tui.base.frozen import frozen
from kimi_tui.permission.bash.cursor import UnparsableCommand
from kimi_tui.permission.bash.parser import BashParser
from kimi_tui.permission.bash.simple_command import SimpleCommand
from kimi_tui.permission.bash.wrappers import SHELLS, unwrap

_MAX_LENGTH = 100_000
_MAX_COMMANDS = 300
_MAX_WORDS = 3_000
"""Limits for analysis. Longer commands take seconds to analyze, and no user reads them before approving."""
_TOO_LONG_REASON = "it is too long"
_COMMAND_SEPARATORS = re.compile(r"[;&|\n(){}`]+|\b(?:do|then|else|in)\b|\$'|\$\"")
_MAX_FRAGMENTS = 200
_TEXT_PRINTERS = frozenset({"echo", "printf"})
"""Programs that print their arguments, possibly into a shell."""


@frozen
class BashCommandLine:
    """A parsed command line."""

    text: str
    commands: tuple[SimpleCommand, ...]
    """Every simple command it may run, including those in substitutions; empty if it can't be parsed."""
    suspects: tuple[SimpleCommand, ...] = ()
    """Further commands it may run; used only to look for forbidden or dangerous ones."""
    unparsable_reason: str = ""
    """Why its meaning isn't certain; empty if it is."""
    has_background_job: bool = False
    """Whether a command runs in the background of the shell, with `&`."""

    @property
    def is_too_long(self) -> bool:
        """Whether only part of it was analyzed."""
        return self.unparsable_reason == _TOO_LONG_REASON


def parse_command(text: str) -> BashCommandLine:
    """Parse `text` as bash would. Never raises: sets `unparsable_reason` if the meaning isn't certain."""
    if "\0" in text or len(text) > _MAX_LENGTH:
        return BashCommandLine(
            text, (), (), _TOO_LONG_REASON if len(text) > _MAX_LENGTH else "it contains a NUL byte"
        )
    try:
        parser = BashParser(text)
        commands, suspects = _parse(parser)
    except UnparsableCommand as reason:
        return BashCommandLine(text, (), tuple(_guess_commands(text)), str(reason))
    candidates = (*commands, *suspects)
    if len(candidates) > _MAX_COMMANDS or sum(len(command.words) for command in candidates) > _MAX_WORDS:
        return BashCommandLine(text, (), tuple(_first_commands(candidates)), _TOO_LONG_REASON)
    return BashCommandLine(
        text, tuple(commands), tuple(suspects), has_background_job=parser.has_background_job
    )


def _first_commands(commands: Iterable[SimpleCommand]) -> Iterable[SimpleCommand]:
    n_words = 0
    for command in islice(commands, _MAX_COMMANDS):
        n_words += len(command.words)
        if n_words > _MAX_WORDS:
            return
        yield command


def _parse(parser: BashParser) -> tuple[list[SimpleCommand], list[SimpleCommand]]:
    parser.parse()
    results = [unwrap(command, _parse_commands) for command in parser.commands]
    commands = [command for result in results for command in result.commands]
    suspects = [command for result in results for command in result.suspects]
    if any(command.program in SHELLS for command in (*commands, *suspects)):
        for stdin_text in (*parser.here_documents, *_here_strings(parser.commands)):
            suspects.extend(_guess_commands(stdin_text))
        for command in parser.commands:
            if command.program in _TEXT_PRINTERS:
                suspects.extend(_guess_commands(" ".join(word.text for word in command.arguments)))
    return commands, suspects


def _parse_commands(text: str) -> list[SimpleCommand]:
    parser = BashParser(text)
    parser.parse()
    return parser.commands


def _here_strings(commands: Iterable[SimpleCommand]) -> Iterable[str]:
    return (
        each.target.text for command in commands for each in command.redirections if each.operator == "<<<"
    )


def _guess_commands(text: str) -> Iterable[SimpleCommand]:
    """Yield commands that `text` may run, for text that can't be parsed as a whole."""
    for fragment in _COMMAND_SEPARATORS.split(text)[:_MAX_FRAGMENTS]:
        try:
            commands, suspects = _parse(BashParser(fragment))
        except UnparsableCommand:
            continue
        yield from commands
        yield from suspects
