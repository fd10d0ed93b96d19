"""Custom slash commands: Markdown files whose text becomes a prompt."""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from kimi_tui.base.errors import ConfigError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg
from kimi_tui.base.terminal_text import sanitize
from kimi_tui.skills.front_matter import read_markdown
from kimi_tui.skills.search_path import parent_dirs
from kimi_tui.skills.template import inline_files, substitute_arguments

MAX_COMMANDS = 500
MAX_FOLDER_DEPTH = 4
_NAME = re.compile(r"[\w-]{1,64}(?::[\w-]{1,64})*")


@frozen(kw_only=True)
class MarkdownCommand:
    """A custom slash command."""

    name: str
    """Without the slash. Subdirectories become prefixes separated by `:`."""
    description: str
    argument_hint: str
    file: Path


@frozen
class CommandSet:
    """The available commands, and the errors of invalid files."""

    commands: tuple[MarkdownCommand, ...] = ()
    problems: tuple[ConfigError, ...] = ()


def command_folders(*, work_dir: Path, data_dir: Path) -> tuple[Path, ...]:
    """Return the directories with commands. For commands with the same name, the earlier directory wins."""
    project = (folder / ".kimi-tui" / "commands" for folder in parent_dirs(work_dir))
    return tuple(dict.fromkeys((*project, data_dir / "commands")))


def find_commands(folders: Iterable[Path]) -> CommandSet:
    """Find the commands in `folders` and their subdirectories, sorted by name. An invalid file is skipped."""
    commands: dict[str, MarkdownCommand] = {}
    problems: list[ConfigError] = []
    for folder in folders:
        for file in _markdown_files(folder):
            if len(commands) == MAX_COMMANDS:
                break
            try:
                command = read_command(file, folder)
            except ConfigError as error:
                problems.append(error)
            else:
                commands.setdefault(command.name, command)
    return CommandSet(tuple(commands[name] for name in sorted(commands)), tuple(problems))


def read_command(file: Path, folder: Path) -> MarkdownCommand:
    """Parse the command in `file`, which is below `folder`. Raises ConfigError that names the file."""
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


def _markdown_files(folder: Path) -> Iterator[Path]:
    for dir_path, subfolders, files in os.walk(folder):
        depth = len(Path(dir_path).relative_to(folder).parts)
        subfolders[:] = (
            sorted(it for it in subfolders if not it.startswith(".")) if depth < MAX_FOLDER_DEPTH else []
        )
        yield from (Path(dir_path, name) for name in sorted(files) if name.endswith(".md"))
