"""Options `--choose FILE=CHOICE` and `--hunks FILE=1,3`, which select parts of a plan."""

from collections.abc import Sequence
from typing import get_args

from kimi_tui.base.errors import UsageError
from kimi_tui.base.message_text import msg
from kimi_tui.wire.timeline import ConflictChoice, FileChoice

_CHOICES: tuple[ConflictChoice, ...] = get_args(ConflictChoice)


def parse_file_choices(choose: Sequence[str], hunks: Sequence[str]) -> tuple[FileChoice, ...]:
    """Return the decisions in the values of `--choose` and `--hunks`, sorted by path. Raises UsageError."""
    choices = {path: _parse_choice(name) for path, name in map(_split, choose)}
    numbers = {path: _parse_numbers(names) for path, names in map(_split, hunks)}
    return tuple(
        FileChoice(path, choices.get(path), numbers.get(path)) for path in sorted({*choices, *numbers})
    )


def _split(value: str) -> tuple[str, str]:
    path, separator, rest = value.rpartition("=")
    if not (path and separator):
        raise UsageError(
            msg("“{value}” names no file.", value=value), hint="Use --choose FILE=CHOICE or --hunks FILE=1,3."
        )
    return path, rest


def _parse_choice(name: str) -> ConflictChoice:
    for known in _CHOICES:
        if known == name:
            return known
    raise UsageError(
        msg("Unknown choice “{choice}”.", choice=name),
        hint=msg("Use one of {names}.", names=", ".join(_CHOICES)),
    )


def _parse_numbers(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if not all(name.isdecimal() for name in names):
        raise UsageError(
            msg("“{text}” isn't a list of hunk numbers.", text=text), hint="Use --hunks FILE=1,3."
        )
    return names
