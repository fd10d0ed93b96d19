"""The text to complete at the cursor: a command, its argument, a file after `@`, or words after `@@`."""

import re
from collections.abc import Sequence
from typing import Literal

from kimi_tui.base.frozen import frozen

_COMMAND = re.compile(r"/([\w:-]*)\Z")
_ARGUMENT = re.compile(r"/([\w:-]+)[ \t]+([^\n]*)\Z")
_PASSAGE = re.compile(r"(?:^|(?<=[\s(\[{\"'`,;:，。；：（「]))@@([^@\n]*)\Z")
_FILE = re.compile(r"(?:^|(?<=[\s(\[{\"'`,;:，。；：（「]))@([^\s\"'`]*)\Z")


@frozen
class CompletionTarget:
    """A part of one line that a completion would replace."""

    kind: Literal["command", "argument", "file", "passage"]
    query: str
    row: int
    start: int
    """Column of the first character. The part ends at the cursor."""
    command: str = ""
    """Name of the command that an argument belongs to."""


def find_completion_target(lines: Sequence[str], row: int, column: int) -> CompletionTarget | None:
    """Return the text before the cursor that can be completed. Commands are completed only in a prompt of one
    line.
    """
    before = lines[row][:column]
    if row == 0 and len(lines) == 1:
        if match := _COMMAND.match(before):
            return CompletionTarget("command", match[1], row, 0)
        if match := _ARGUMENT.match(before):
            return CompletionTarget("argument", match[2], row, match.start(2), command=match[1])
    if match := _PASSAGE.search(before):
        return CompletionTarget("passage", match[1].strip(), row, match.start(1) - 2)
    if match := _FILE.search(before):
        return CompletionTarget("file", match[1], row, match.start(1) - 1)
    return None


def file_reference(path: str) -> str:
    """Return the mention of `path` in a prompt. Paths that contain white space are quoted."""
    return f'@"{path}"' if re.search(r"\s", path) else f"@{path}"
