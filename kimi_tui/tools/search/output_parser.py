"""Parser for the output of search programs."""

import os
import re
from collections.abc import Iterator

from kimi_tui.base.frozen import frozen

_LINE = re.compile(
    rb"--\r?\n"  # between groups of lines
    rb"|[^\n\0]*binary file[^\n\0]*\n"  # a notice
    rb"|(?P<path>[^\0]+)\0(?P<number>\d+)(?P<kind>[:-])(?P<text>[^\n]*)\n?"
)
_COUNT = re.compile(rb"(?P<path>[^\0]+)\0(?P<count>\d+)\r?\n")


@frozen
class MatchedLine:
    """A matching line, or a line of its context."""

    path: str
    number: int
    is_match: bool
    text: str


def parse_paths(output: bytes, folder: str) -> list[str]:
    """Return the absolute paths in an output of names."""
    return [_to_path(name, folder) for name in output.split(b"\0") if name]


def parse_lines(output: bytes, folder: str) -> Iterator[MatchedLine]:
    """Yield the lines in an output of content, without an incomplete last one."""
    complete = output[: output.rfind(b"\n") + 1]
    for match in _LINE.finditer(complete):
        if (name := match["path"]) is not None:
            text = match["text"].removesuffix(b"\r").decode("utf-8", "replace")
            yield MatchedLine(_to_path(name, folder), int(match["number"]), match["kind"] == b":", text)


def parse_counts(output: bytes, folder: str) -> list[tuple[str, int]]:
    """Return the path and the number of matches of each file in output with counts."""
    return [(_to_path(match["path"], folder), int(match["count"])) for match in _COUNT.finditer(output)]


def _to_path(name: bytes, folder: str) -> str:
    return folder.rstrip(os.sep) + os.sep + os.fsdecode(name).removeprefix(f".{os.sep}")
