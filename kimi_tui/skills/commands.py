"""Custom slash commands: Markdown files whose text becomes a prompt."""

import re
from collections.abc import Callable, Collection, Iterable
from pathlib import Path

from kimi_tui.base.errors import ConfigError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg
from kimi_tui.base.terminal_text import sanitize
from kimi_tui.config.project_files import find_command_files, project_command_folders
from kimi_tui.skills.front_matter import read_markdown
from kimi_tui.skills.template import inline_files, substitute_arguments

MAX_COMMANDS = 500
_NAME = re.compile(r"[\w-]{1,64}(?::[\w-]{1,64})*")


@frozen(kw_only=True)
class MarkdownCommand:
    """A custom slash command."""

    name: str
    """Name without the slash. Subdirectories become prefixes separated by `:`."""
    description: str
    argument_hint: str
    file: Path


@frozen
class CommandSet:
    """The available commands, and the errors of invalid files."""

    commands: tuple[MarkdownCommand, ...] = ()
    problems: tuple[ConfigError, ...] = ()


def command_folders(*, work_dir: Path, data_dir: Path) -> tuple[Path, ...]:
    """Return the directories with commands. If two commands share a name, the earlier directory wins."""
    return tuple(dict.fromkeys((*project_command_folders(work_dir), data_dir / "commands")))


def find_commands(folders: Iterable[Path], *, untrusted: Collection[Path] = ()) -> CommandSet:
    """Find the commands in `folders` and their subdirectories, sorted by name.

    An invalid file is skipped, as are `untrusted` files.
    """
    commands: dict[str, MarkdownCommand] = {}
    problems: list[ConfigError] = []
    for folder in folders:
        for file in find_command_files(folder):
            if len(commands) == MAX_COMMANDS:
                break
            if file in untrusted:
                continue
            try:
                command = read_command(file, folder)
            except ConfigError as error:
                problems.append(error)
            else:
                commands.setdefault(command.name, command)
    return CommandSet(tuple(commands[name] for name in sorted(commands)), tuple(problems))


def read_command(file: Path, folder: Path) -> MarkdownCommand:
    """Parse the command in `file`, which is below `folder`. Raises ConfigError with the file's name."""
    name = ":".join(file.relative_to(folder).with_suffix("").parts)
    if not _NAME.fullmatch(name):
        raise ConfigError(
            msg(
                "{path}: “/{name}” isn't a valid command name.", path=sanitize(str(file)), name=sanitize(name)
            ),
            hint="Use only letters, digits, `-` and `_` in the file name.",
        )
    markdown = read_markdown(file)
    if not markdown.body:
        raise ConfigError(
            msg("{path}: the command is empty.", path=sanitize(str(file))), hint="Write a prompt in the file."
        )
    return MarkdownCommand(
        name=name,
        description=markdown.text("description") or markdown.first_line,
        argument_hint=markdown.text("argument-hint"),
        file=file,
    )


def render_prompt(
    command: MarkdownCommand, arguments: str, *, work_dir: Path, may_include: Callable[[Path], bool]
) -> str:
    """Return the prompt for running `command`. Raises ConfigError."""
    text = substitute_arguments(read_markdown(command.file).body, arguments)
    return inline_files(text, work_dir, may_include=may_include)
