"""Rendering of commands and skills: substitution of arguments, inlining of referenced files."""

import os
import re
import shlex
from collections.abc import Callable
from pathlib import Path

from kimi_tui.base.no_follow import open_no_follow

MAX_FILE_BYTES = 64 * 1024
MAX_FILES = 20
_PLACEHOLDER = re.compile(r"\\?\$(?:ARGUMENTS\b|([1-9])(?!\d))")
_REFERENCE = re.compile(r"""(?<![\w@`./])@(?:"([^"\n]+)"|([^\s"'`@]+))""")
_TRAILING_PUNCTUATION = ".,;:!?)]}>"


def substitute_arguments(text: str, arguments: str) -> str:
    """Replace `$ARGUMENTS` with all arguments and `$1` to `$9` with single arguments, split as in a shell.

    A backslash escapes a placeholder. If there is no placeholder, the arguments are appended.
    """
    words = _split_arguments(arguments)
    has_placeholder = False

    def replacement(match: re.Match[str]) -> str:
        nonlocal has_placeholder
        if match[0].startswith("\\"):
            return match[0][1:]
        has_placeholder = True
        if match[1] is None:
            return arguments
        position = int(match[1]) - 1
        return words[position] if position < len(words) else ""

    expanded = _PLACEHOLDER.sub(replacement, text)
    if arguments and not has_placeholder:
        return f"{expanded}\n\n{arguments}"
    return expanded


def inline_files(text: str, folder: Path, *, may_include: Callable[[Path], bool]) -> str:
    """Append the content of files that `text` references as `@path` or `@"path"`, relative to `folder`.

    References that aren't files are left unchanged. If a file can't be included, append the reason instead.
    """
    blocks: dict[Path, str] = {}
    for match in _REFERENCE.finditer(text):
        file = _find_file(match[1] or match[2], folder, quoted=match[1] is not None)
        if file is not None and file[1] not in blocks and len(blocks) < MAX_FILES:
            name, path = file
            blocks[path] = _format_file_block(name, path, may_include=may_include)
    return "\n\n".join((text, *blocks.values()))


def _split_arguments(arguments: str) -> list[str]:
    try:
        return shlex.split(arguments)
    except ValueError:  # an apostrophe
        return arguments.split()


def _find_file(name: str, folder: Path, *, quoted: bool) -> tuple[str, Path] | None:
    """Return the file that `name` references, without trailing punctuation."""
    names = [name]
    while not quoted and names[-1] and names[-1][-1] in _TRAILING_PUNCTUATION:
        names.append(names[-1][:-1])
    for each in names:
        try:
            path = folder / Path(each).expanduser()
            if each and path.is_file():
                return each, path.resolve()
        except (OSError, RuntimeError, ValueError):
            continue
    return None


def _format_file_block(name: str, path: Path, *, may_include: Callable[[Path], bool]) -> str:
    if not may_include(path):
        return f'<file path="{name}">(omitted: it may contain secrets, or a rule denies reading it)</file>'
    try:
        with os.fdopen(open_no_follow(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as stream:
            data = stream.read(MAX_FILE_BYTES + 1)
        text = data[:MAX_FILE_BYTES].decode("utf-8", "ignore" if len(data) > MAX_FILE_BYTES else "strict")
        if "\x00" in text:
            raise UnicodeDecodeError("utf-8", b"", 0, 1, "a NUL byte")
    except OSError as error:
        return f'<file path="{name}">(omitted: {error.strerror or error})</file>'
    except UnicodeDecodeError:
        return f'<file path="{name}">(omitted: not a text file)</file>'
    notice = "\n[truncated; read the file for the rest]" if len(data) > MAX_FILE_BYTES else ""
    return f'<file path="{name}">\n{text.rstrip()}{notice}\n</file>'
