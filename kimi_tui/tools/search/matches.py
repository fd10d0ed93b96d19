"""What a search program printed, taken apart."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

_LINE = re.compile(
    rb"--\r?\n"  # between groups of lines
    rb"|[^\n\0]*binary file[^\n\0]*\n"  # a remark
    rb"|(?P<path>[^\0]+)\0(?P<number>\d+)(?P<kind>[:-])(?P<text>[^\n]*)\n?"
)
_COUNT = re.compile(rb"(?P<path>[^\0]+)\0(?P<count>\d+)\r?\n")


@dataclass(frozen=True, slots=True)
class MatchedLine:
    """A line that matches, or one near it."""

    path: str
    number: int
    is_match: bool
    text: str


def paths_in(output: bytes, folder: str) -> list[str]:
    """The paths, absolute, of an output of names."""
    return [_path(name, folder) for name in output.split(b"\0") if name]


def lines_in(output: bytes, folder: str) -> Iterator[MatchedLine]:
    """The lines of an output of content; what was cut off at its end is left out."""
    whole = output[: output.rfind(b"\n") + 1]
    for match in _LINE.finditer(whole):
        if (name := match["path"]) is not None:
            text = match["text"].removesuffix(b"\r").decode("utf-8", "replace")
            yield MatchedLine(_path(name, folder), int(match["number"]), match["kind"] == b":", text)


def counts_in(output: bytes, folder: str) -> list[tuple[str, int]]:
    """How many matches each file of an output of counts has."""
    return [(_path(match["path"], folder), int(match["count"])) for match in _COUNT.finditer(output)]


def _path(name: bytes, folder: str) -> str:
    return folder.rstrip(os.sep) + os.sep + os.fsdecode(name).removeprefix(f".{os.sep}")
