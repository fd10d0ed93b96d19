"""What a command's or a skill's text becomes when it is used: arguments put in, files that it names added."""

import os
import re
import shlex
from collections.abc import Callable
from pathlib import Path

from kimi_tui.base.resolved_path import open_resolved

MOST_BYTES_OF_A_FILE = 64 * 1024
MOST_FILES = 20
_PLACEHOLDER = re.compile(r"\\?\$(?:ARGUMENTS\b|([1-9])(?!\d))")
_REFERENCE = re.compile(r"""(?<![\w@`./])@(?:"([^"\n]+)"|([^\s"'`@]+))""")
_TRAILING = ".,;:!?)]}>"


def with_arguments(text: str, arguments: str) -> str:
    """`text` with `$ARGUMENTS`, all of them, and `$1` to `$9`, which are split as a shell does.

    A backslash before a placeholder keeps it. Arguments for which there is no place stand at the end.
    """
    words = _words(arguments)
    found = False

    def value(match: re.Match[str]) -> str:
        nonlocal found
        if match[0].startswith("\\"):
            return match[0][1:]
        found = True
        if match[1] is None:
            return arguments
        position = int(match[1]) - 1
        return words[position] if position < len(words) else ""

    expanded = _PLACEHOLDER.sub(value, text)
    if arguments and not found:
        return f"{expanded}\n\n{arguments}"
    return expanded


def with_files(text: str, folder: Path, *, may_include: Callable[[Path], bool]) -> str:
    """`text`, and after it what is in the files that it names as `@path` or `@"path"`, from `folder` on.

    What is no file stays as it is. What can't be included is named, with the reason.
    """
    blocks: dict[Path, str] = {}
    for match in _REFERENCE.finditer(text):
        found = _file(match[1] or match[2], folder, quoted=match[1] is not None)
        if found is not None and found[1] not in blocks and len(blocks) < MOST_FILES:
            name, path = found
            blocks[path] = _block(name, path, may_include=may_include)
    return "\n\n".join((text, *blocks.values()))


def _words(arguments: str) -> list[str]:
    try:
        return shlex.split(arguments)
    except ValueError:  # a lone quote, as in English
        return arguments.split()


def _file(name: str, folder: Path, *, quoted: bool) -> tuple[str, Path] | None:
    """The file that `name` means, without the punctuation that may end a sentence."""
    names = [name]
    while not quoted and names[-1] and names[-1][-1] in _TRAILING:
        names.append(names[-1][:-1])
    for each in names:
        try:
            path = folder / Path(each).expanduser()
            if each and path.is_file():
                return each, path.resolve()
        except (OSError, RuntimeError, ValueError):
            continue
    return None


def _block(name: str, path: Path, *, may_include: Callable[[Path], bool]) -> str:
    if not may_include(path):
        return f'<file path="{name}">(left out: it may hold secrets, or a rule forbids reading it)</file>'
    try:
        with os.fdopen(open_resolved(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as stream:
            data = stream.read(MOST_BYTES_OF_A_FILE + 1)
        text = data[:MOST_BYTES_OF_A_FILE].decode(
            "utf-8", "ignore" if len(data) > MOST_BYTES_OF_A_FILE else "strict"
        )
        if "\x00" in text:
            raise UnicodeDecodeError("utf-8", b"", 0, 1, "a NUL")
    except OSError as error:
        return f'<file path="{name}">(left out: {error.strerror or error})</file>'
    except UnicodeDecodeError:
        return f'<file path="{name}">(left out: it is no text)</file>'
    cut = "\n[cut here: read the file for the rest]" if len(data) > MOST_BYTES_OF_A_FILE else ""
    return f'<file path="{name}">\n{text.rstrip()}{cut}\n</file>'
