"""What is being completed at the cursor: a command, its argument, or a file after `@`."""

import re
from collections.abc import Sequence
from typing import Literal

from kimi_tui.base.value import value

_COMMAND = re.compile(r"/([\w:-]*)\Z")
_ARGUMENT = re.compile(r"/([\w:-]+)[ \t]+([^\n]*)\Z")
_FILE = re.compile(r"(?:^|(?<=[\s(\[{\"'`,;:，。；：（「]))@([^\s\"'`]*)\Z")


@value
class Completion:
    """A stretch of one line that a choice would replace."""

    kind: Literal["command", "argument", "file"]
    query: str
    row: int
    start: int
    """Column of the stretch's first character; it ends at the cursor."""
    command: str = ""
    """For an argument, the command's name."""


def completion_at(lines: Sequence[str], row: int, column: int) -> Completion | None:
    """What stands before the cursor that can be completed; commands stand alone on the first line."""
    before = lines[row][:column]
    if row == 0 and len(lines) == 1:
        if found := _COMMAND.match(before):
            return Completion("command", found[1], row, 0)
        if found := _ARGUMENT.match(before):
            return Completion("argument", found[2], row, found.start(2), command=found[1])
    if found := _FILE.search(before):
        return Completion("file", found[1], row, found.start(1) - 1)
    return None


def file_reference(path: str) -> str:
    """`path` as it stands in a prompt: quoted when it holds white space."""
    return f'@"{path}"' if re.search(r"\s", path) else f"@{path}"
