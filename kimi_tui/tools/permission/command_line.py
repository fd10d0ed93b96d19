"""A command line of bash, read far enough to know which programs it runs and where it writes."""

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import islice

from kimi_tui.base.value import value
from kimi_tui.tools.permission.cursor import Unreadable
from kimi_tui.tools.permission.part import Part
from kimi_tui.tools.permission.script import Script
from kimi_tui.tools.permission.wrappers import SHELLS, unwrapped

_MAX_LENGTH = 100_000
_MAX_PARTS = 300
_MAX_WORDS = 3_000
"""What is longer takes seconds to look through, and nobody reads it before agreeing."""
_TOO_LONG = "it is too long"
_SEAMS = re.compile(r"[;&|\n(){}`]+|\b(?:do|then|else|in)\b|\$'|\$\"")
_MAX_FRAGMENTS = 200


@value
class CommandLine:
    """What a command line comes to."""

    text: str
    parts: tuple[Part, ...]
    """Every simple command that it may run, substitutions included; none when it is unreadable."""
    suspects: tuple[Part, ...] = ()
    """What it may run besides: only for finding what is forbidden or dangerous."""
    unreadable: str = ""
    """Why its meaning isn't certain; empty when it is."""

    @property
    def is_too_long(self) -> bool:
        """Whether not all of it was looked at."""
        return self.unreadable == _TOO_LONG


@lru_cache(maxsize=512)
def parse_command(text: str) -> CommandLine:
    """Read `text` as bash would. Never raises: what isn't certain is `unreadable`."""
    if "\0" in text or len(text) > _MAX_LENGTH:
        return CommandLine(text, (), (), _TOO_LONG if len(text) > _MAX_LENGTH else "it holds a NUL")
    try:
        parts, suspects = _read(text)
    except Unreadable as reason:
        return CommandLine(text, (), tuple(_fragments(text)), str(reason))
    found = (*parts, *suspects)
    if len(found) > _MAX_PARTS or sum(len(part.words) for part in found) > _MAX_WORDS:
        return CommandLine(text, (), tuple(_beginning(found)), _TOO_LONG)
    return CommandLine(text, tuple(parts), tuple(suspects))


def _beginning(parts: Iterable[Part]) -> Iterable[Part]:
    words = 0
    for part in islice(parts, _MAX_PARTS):
        words += len(part.words)
        if words > _MAX_WORDS:
            return
        yield part


def _read(text: str) -> tuple[list[Part], list[Part]]:
    script = Script(text)
    script.read()
    results = [unwrapped(part, _parts_of) for part in script.parts]
    parts = [part for result in results for part in result.parts]
    suspects = [part for result in results for part in result.suspects]
    if any(part.program in SHELLS for part in (*parts, *suspects)):
        for fed in (*script.here_documents, *_here_strings(script.parts)):
            suspects.extend(_fragments(fed))
    return parts, suspects


def _parts_of(text: str) -> list[Part]:
    script = Script(text)
    script.read()
    return script.parts


def _here_strings(parts: Iterable[Part]) -> Iterable[str]:
    return (each.target.text for part in parts for each in part.redirections if each.operator == "<<<")


def _fragments(text: str) -> Iterable[Part]:
    """What `text` may run, guessed: for text that can't be read as a whole."""
    for fragment in _SEAMS.split(text)[:_MAX_FRAGMENTS]:
        try:
            parts, suspects = _read(fragment)
        except Unreadable:
            continue
        yield from parts
        yield from suspects
