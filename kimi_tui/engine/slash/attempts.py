"""Arguments of `/attempts`."""

import argparse
import shlex
from collections.abc import Sequence
from typing import NoReturn

from kimi_tui.base.errors import UsageError
from kimi_tui.base.message_text import msg
from kimi_tui.base.thinking_effort import ThinkingEffort, parse_thinking_effort
from kimi_tui.wire.attempts import (
    AdoptAttempts,
    AttemptCommand,
    AttemptFiles,
    DiscardAttempts,
    ListAttempts,
    PlanAdoption,
    ReadAttempt,
    StartAttempts,
    StopAttempts,
    combine_options,
)
from kimi_tui.wire.file_choice_options import parse_file_choices

_USAGE = msg(
    "Type /attempts [N] --model A,B [--thinking low,high] [--prompt TEXT] [--check COMMAND], or --list, "
    "--show N, --stop, --adopt N, --discard N."
)


class _Parser(argparse.ArgumentParser):
    """Raises UsageError instead of exiting the program."""

    def error(self, message: str) -> NoReturn:
        """Raise the error."""
        raise UsageError(msg("/attempts: {problem}.", problem=message), hint=_USAGE)


def parse_attempts(argument: str) -> AttemptCommand:
    """Return the command for the argument of `/attempts`. Raises UsageError."""
    try:
        words = shlex.split(argument)
    except ValueError as error:
        raise UsageError(msg("/attempts: {problem}.", problem=str(error)), hint=_USAGE) from error
    match words:
        case [] | ["--list"]:
            return ListAttempts()
        case ["--stop", *numbers]:
            return StopAttempts(_parse_numbers(numbers))
        case ["--discard", *numbers]:
            return DiscardAttempts(_parse_numbers(numbers))
        case ["--show", number]:
            return ReadAttempt(_parse_numbers([number])[0])
        case ["--show", number, "--file", path]:
            return ReadAttempt(_parse_numbers([number])[0], path)
        case ["--adopt", *rest]:
            return _parse_adoption(rest)
        case _:
            return _parse_start(words)


def _parse_adoption(words: Sequence[str]) -> AttemptCommand:
    parser = _Parser(prog="/attempts", add_help=False, allow_abbrev=False)
    parser.add_argument("numbers", nargs="+")
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument("--choose", action="append", default=[])
    parser.add_argument("--hunks", action="append", default=[])
    parser.add_argument("--files", action="append", default=[])
    values = parser.parse_args(list(words))
    numbers = _parse_numbers(values.numbers)
    files = tuple(map(_parse_files, values.files))
    if unknown := {each.number for each in files} - set(numbers):
        raise UsageError(
            msg("--files names attempt {number}, which isn't adopted.", number=min(unknown)),
            hint="Use --adopt 1,2 --files 2=FILE,FILE.",
        )
    if values.dry_run:
        return PlanAdoption(numbers, files)
    return AdoptAttempts(numbers, choices=parse_file_choices(values.choose, values.hunks), files=files)


def _parse_files(value: str) -> AttemptFiles:
    number, _, paths = value.partition("=")
    if not paths:
        raise UsageError(msg("“{value}” names no file.", value=value), hint="Use --files 2=FILE,FILE.")
    (parsed,) = _parse_numbers([number]) or (0,)
    return AttemptFiles(parsed, tuple(path for path in paths.split(",") if path))


def _parse_start(words: Sequence[str]) -> StartAttempts:
    parser = _Parser(prog="/attempts", add_help=False, allow_abbrev=False)
    parser.add_argument("checkpoint", nargs="?", type=int)
    parser.add_argument("--model", action="append", default=[])
    parser.add_argument("--thinking", action="append", default=[])
    parser.add_argument("--prompt", action="append", default=[])
    parser.add_argument("--count", type=int, default=1)
    parser.add_argument("--check")
    parser.add_argument("--cost", type=float)
    parser.add_argument("--time", type=float)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--yolo", action="store_true")
    values = parser.parse_args(list(words))
    if values.count < 1 or any(
        limit is not None and limit <= 0 for limit in (values.cost, values.time, values.steps)
    ):
        raise UsageError("--count and the limits must be greater than 0.", hint=_USAGE)
    return StartAttempts(
        attempts=combine_options(
            prompts=values.prompt,
            models=_split(values.model),
            levels=[_parse_thinking(level) for level in _split(values.thinking)],
            count=values.count,
        ),
        checkpoint=values.checkpoint,
        check=values.check,
        max_cost_usd=values.cost,
        max_time_s=values.time,
        max_steps=values.steps,
        yolo=values.yolo,
    )


def _split(values: Sequence[str]) -> list[str]:
    return [word.strip() for value in values for word in value.split(",") if word.strip()]


def _parse_thinking(level: str) -> ThinkingEffort:
    effort = parse_thinking_effort(level)
    if effort is None:
        raise UsageError(
            msg("“{level}” isn't a thinking level.", level=level), hint="Use off, low, medium or high."
        )
    return effort


def _parse_numbers(words: Sequence[str]) -> tuple[int, ...]:
    numbers = [word for text in words for word in text.split(",") if word]
    for word in numbers:
        if not word.isdecimal() or len(word) > 9:
            raise UsageError(
                msg("“{word}” isn't the number of an attempt.", word=word),
                hint="/attempts --list lists them.",
            )
    return tuple(map(int, numbers))
