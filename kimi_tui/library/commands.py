"""Commands of the user's own: Markdown files whose text is said to the model."""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from kimi_tui.base.errors import ConfigError
from kimi_tui.base.terminal import plain
from kimi_tui.base.value import value
from kimi_tui.library.expansion import with_arguments, with_files
from kimi_tui.library.front_matter import read_markdown
from kimi_tui.library.places import folders_up

MOST_COMMANDS = 500
MOST_FOLDERS_DEEP = 4
_NAME = re.compile(r"[\w-]{1,64}(?::[\w-]{1,64})*")


@value(kw_only=True)
class WrittenCommand:
    """A command that can be used."""

    name: str
    """Without the slash; the folders of its file stand before it, each with a `:`."""
    description: str
    argument_hint: str
    file: Path


@value
class FoundCommands:
    """The commands there are, and what kept others from being among them."""

    commands: tuple[WrittenCommand, ...] = ()
    problems: tuple[ConfigError, ...] = ()


def command_folders(*, work_dir: Path, share_dir: Path) -> tuple[Path, ...]:
    """Where commands are looked for; of two of one name that of the earlier folder counts."""
    project = (folder / ".kimi-tui" / "commands" for folder in folders_up(work_dir))
    return tuple(dict.fromkeys((*project, share_dir / "commands")))


def find_commands(folders: Iterable[Path]) -> FoundCommands:
    """The commands in `folders` and the folders in them, by name. A broken one costs itself."""
    found: dict[str, WrittenCommand] = {}
    problems: list[ConfigError] = []
    for folder in folders:
        for file in _markdown_files(folder):
            if len(found) == MOST_COMMANDS:
                break
            try:
                command = read_command(file, folder)
            except ConfigError as error:
                problems.append(error)
            else:
                found.setdefault(command.name, command)
    return FoundCommands(tuple(found[name] for name in sorted(found)), tuple(problems))


def read_command(file: Path, folder: Path) -> WrittenCommand:
    """The command that `file`, somewhere in `folder`, describes. Raises ConfigError that names the file."""
    name = ":".join(file.relative_to(folder).with_suffix("").parts)
    if not _NAME.fullmatch(name):
        raise ConfigError(
            plain(f"{file}: a command can't be called “/{name}”."),
            hint="Call the file by letters, digits, `-` and `_`.",
        )
    markdown = read_markdown(file)
    if not markdown.body:
        raise ConfigError(plain(f"{file}: the command says nothing."), hint="Write what is to be done.")
    return WrittenCommand(
        name=name,
        description=markdown.text("description") or markdown.first_line,
        argument_hint=markdown.text("argument-hint"),
        file=file,
    )


def prompt_of(
    command: WrittenCommand, arguments: str, *, work_dir: Path, may_include: Callable[[Path], bool]
) -> str:
    """What is said to the model when the user runs `command`. Raises ConfigError."""
    text = with_arguments(read_markdown(command.file).body, arguments)
    return with_files(text, work_dir, may_include=may_include)


def _markdown_files(folder: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(folder):
        depth = len(Path(place).relative_to(folder).parts)
        folders[:] = (
            sorted(it for it in folders if not it.startswith(".")) if depth < MOST_FOLDERS_DEEP else []
        )
        yield from (Path(place, name) for name in sorted(files) if name.endswith(".md"))
