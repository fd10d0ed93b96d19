"""Slash commands of the timeline."""

import shlex
from collections.abc import Sequence
from typing import Protocol, get_args

from kimi_tui.base.errors import UsageError
from kimi_tui.base.message_text import msg
from kimi_tui.engine.slash.attempts import parse_attempts
from kimi_tui.engine.slash.registry import AnyCommand, SlashCommand, TimelineSlashCommand
from kimi_tui.engine.why.why_service import parse_location
from kimi_tui.wire.bisect import Bisect, SendBisectResult, StopBisect
from kimi_tui.wire.commands import (
    Compare,
    ForkSession,
    NameCheckpoint,
    PlanRevert,
    PlanSwitch,
    Redo,
    Revert,
    SwitchBranch,
    TimelineCommand,
    Undo,
    WritePatch,
)
from kimi_tui.wire.file_choice_options import parse_file_choices
from kimi_tui.wire.review import (
    AddComment,
    EditComment,
    ListComments,
    ReadPlannedFile,
    RemoveComment,
    RevertHunks,
    ReviewChanges,
    SendComments,
)
from kimi_tui.wire.timeline import FileChoice, RevertScope
from kimi_tui.wire.why import ExplainLine

_DRY_RUN = "--dry-run"
_SCOPES: tuple[RevertScope, ...] = get_args(RevertScope)
_NUMBERS_HINT = msg("/checkpoints lists the numbers.")


class TimelineLists(Protocol):
    """Lists of checkpoints and branches as text."""

    async def list_checkpoints(self) -> None:
        """Send a notice that lists the checkpoints."""
        ...

    async def list_branches(self) -> None:
        """Send a notice that lists the branches."""
        ...


def _parse_revert(argument: str) -> TimelineCommand:
    words, choices, only = _take_choices(argument)
    is_dry_run = _DRY_RUN in words
    numbers = _parse_numbers(words)
    scopes = [scope for scope in _SCOPES if scope in words]
    if len(numbers) != 1 or len(scopes) > 1 or len(words) != is_dry_run + 1 + len(scopes):
        raise UsageError(
            "/revert requires a checkpoint number.",
            hint=msg(
                "Type /revert N [{dry_run}] [{scopes}]; {hint}",
                dry_run=_DRY_RUN,
                scopes="|".join(_SCOPES[1:]),
                hint=_NUMBERS_HINT,
            ),
        )
    scope = scopes[0] if scopes else "both"
    return PlanRevert(numbers[0], scope) if is_dry_run else Revert(numbers[0], scope, only, choices=choices)


def _parse_undo(argument: str) -> TimelineCommand:
    words, choices, only = _take_choices(argument)
    return PlanRevert("undo") if _is_dry_run("undo", words) else Undo(only, choices)


def _parse_redo(argument: str) -> TimelineCommand:
    words, choices, only = _take_choices(argument)
    return PlanRevert("redo") if _is_dry_run("redo", words) else Redo(only, choices)


def _take_choices(argument: str) -> tuple[list[str], tuple[FileChoice, ...], tuple[str, ...] | None]:
    """Return an argument's other words, the choices in `--choose` and `--hunks`, and the files in `--only`.

    The files are None without `--only`: the plan selects them. Raises UsageError.
    """
    try:
        words = shlex.split(argument)
    except ValueError:
        words = argument.split()
    options: dict[str, list[str]] = {"--choose": [], "--hunks": [], "--only": []}
    rest: list[str] = []
    while words:
        word = words.pop(0)
        name, separator, value = word.partition("=")
        if word in options and words:
            options[word].append(words.pop(0))
        elif name in options and separator:
            options[name].append(value)
        else:
            rest.append(word)
    choices = parse_file_choices(options["--choose"], options["--hunks"])
    return rest, choices, tuple(options["--only"]) or None


def _is_dry_run(name: str, words: Sequence[str]) -> bool:
    if list(words) not in ([], [_DRY_RUN]):
        raise UsageError(
            msg("/{name} takes no arguments except {dry_run}.", name=name, dry_run=_DRY_RUN),
            hint=msg(
                "Type /{name} [{dry_run}]. To revert to any checkpoint, type /revert N.",
                name=name,
                dry_run=_DRY_RUN,
            ),
        )
    return bool(words)


def _parse_switch(argument: str) -> TimelineCommand:
    words, choices, only = _take_choices(argument)
    is_dry_run = _DRY_RUN in words
    numbers = _parse_numbers(words)
    if len(numbers) not in {1, 2} or len(words) != is_dry_run + len(numbers):
        raise UsageError(
            "/switch requires a branch number.",
            hint=msg(
                "Use /switch BRANCH [CHECKPOINT] [{dry_run}]. /branches lists the branches.", dry_run=_DRY_RUN
            ),
        )
    to = numbers[1] if len(numbers) == 2 else None
    if is_dry_run:
        return PlanSwitch(numbers[0], to)
    return SwitchBranch(numbers[0], to, paths=only, choices=choices)


def _parse_fork(argument: str) -> TimelineCommand:
    numbers = _parse_numbers(argument.split())
    if argument and len(numbers) != 1:
        raise UsageError("/fork takes a checkpoint number or no argument.", hint=_NUMBERS_HINT)
    return ForkSession(numbers[0] if numbers else None)


def _parse_diff(argument: str) -> TimelineCommand:
    words = argument.split()
    numbers = _parse_numbers(words)
    if len(numbers) not in {1, 2} or len(numbers) != len(words):
        raise UsageError(
            "/diff requires one or two checkpoint numbers.",
            hint=msg("Type /diff N [M]; {hint}", hint=_NUMBERS_HINT),
        )
    return Compare(numbers[0], numbers[1] if len(numbers) == 2 else None)


def _parse_patch(argument: str) -> TimelineCommand:
    words = argument.split()
    numbers = _parse_numbers(words[:2])
    if not numbers or not words[0].isdecimal():
        raise UsageError(
            "/patch requires one or two checkpoint numbers.",
            hint=msg("Type /patch N [M] [FILE]; {hint}", hint=_NUMBERS_HINT),
        )
    path = argument.split(maxsplit=len(numbers))[len(numbers) :]
    after = numbers[1] if len(numbers) == 2 else None
    return WritePatch(numbers[0], after, path[0] if path else "")


def _parse_name(argument: str) -> TimelineCommand:
    number, _, name = argument.partition(" ")
    if not number.isdecimal():
        raise UsageError(
            "/name requires a checkpoint number.",
            hint=msg("Type /name N TEXT, or /name N to remove the name; {hint}", hint=_NUMBERS_HINT),
        )
    return NameCheckpoint(int(number), name.strip())


def _parse_note(argument: str) -> TimelineCommand:
    number, _, note = argument.partition(" ")
    if not number.isdecimal() or not note.strip():
        raise UsageError(
            "/note requires a checkpoint number and a note.",
            hint=msg("Type /note N TEXT; {hint}", hint=_NUMBERS_HINT),
        )
    return Revert(int(number), note=note.strip())


def _parse_bisect(argument: str) -> TimelineCommand:
    match argument.strip():
        case "":
            raise UsageError(
                "/bisect requires a command.",
                hint="Type a command that passes or fails, such as /bisect pytest -q.",
            )
        case "--stop":
            return StopBisect()
        case "--send":
            return SendBisectResult()
        case command:
            return Bisect(command)


def _parse_why(argument: str) -> TimelineCommand:
    location = parse_location(argument)
    if location is None:
        raise UsageError("/why requires a file and a line.", hint="Type /why FILE:LINE.")
    return ExplainLine(*location)


def _parse_comment(argument: str) -> TimelineCommand:
    words = argument.split(maxsplit=1)
    match words:
        case []:
            return ListComments()
        case ["--send"]:
            return SendComments()
        case ["--remove", number] if number.isdecimal() and len(number) < 16:
            return RemoveComment(int(number))
        case ["--edit", rest] if len(parts := rest.split(maxsplit=1)) == 2 and _parse_numbers(parts[:1]):
            return EditComment(int(parts[0]), parts[1])
        case [place, text] if (location := parse_location(place)) is not None:
            return AddComment(*location, text)
        case [place, text] if (location := parse_location(place.replace(":-", ":"))) is not None:
            return AddComment(*location, text, is_removed=True)
        case _:
            raise UsageError(
                "/comment requires a line and a text.",
                hint="Type /comment FILE:LINE TEXT, --edit N TEXT, --remove N, or --send.",
            )


def _parse_review(argument: str) -> TimelineCommand:
    words = argument.split()
    match words:
        case ["--file", _, *_]:
            return ReadPlannedFile("", argument.split(maxsplit=1)[1].strip())
        case ["--revert", *hunks] if hunks:
            return RevertHunks(tuple(hunks))
        case _ if len(words) <= 2 and len(numbers := _parse_numbers(words)) == len(words):
            return ReviewChanges(*numbers)
        case _:
            raise UsageError(
                "/review takes one or two checkpoint numbers.",
                hint="Type /review [N [M]], /review --file FILE, or /review --revert FILE.HUNK.",
            )


def _parse_numbers(words: Sequence[str]) -> list[int]:
    return [int(word) for word in words if word.isdecimal() and len(word) < 16]


_READ_ONLY = ("checkpoints", "branches", "diff", "review", "why")


def timeline_slash_commands(lists: TimelineLists, *, read_only: bool = False) -> tuple[AnyCommand, ...]:
    """Return the commands of the timeline; if `read_only`, only those that don't change anything."""

    async def list_checkpoints(_: str) -> None:
        await lists.list_checkpoints()

    async def list_branches(_: str) -> None:
        await lists.list_branches()

    scopes = "|".join(_SCOPES[1:])
    commands: tuple[AnyCommand, ...] = (
        TimelineSlashCommand(
            "revert",
            msg("Revert to a checkpoint: /revert N [{dry_run}] [{scopes}]", dry_run=_DRY_RUN, scopes=scopes),
            _parse_revert,
        ),
        TimelineSlashCommand(
            "undo", msg("Undo the last revert; {dry_run} shows a preview", dry_run=_DRY_RUN), _parse_undo
        ),
        TimelineSlashCommand(
            "redo",
            msg("Redo the last undone revert; {dry_run} shows a preview", dry_run=_DRY_RUN),
            _parse_redo,
        ),
        SlashCommand(
            "checkpoints", "List checkpoints, and the files that they don't cover", list_checkpoints
        ),
        SlashCommand("branches", "List branches", list_branches),
        TimelineSlashCommand(
            "switch",
            msg("Switch to a branch: /switch BRANCH [CHECKPOINT] [{dry_run}]", dry_run=_DRY_RUN),
            _parse_switch,
        ),
        TimelineSlashCommand("fork", "Fork the session, optionally at a checkpoint: /fork [N]", _parse_fork),
        TimelineSlashCommand(
            "diff", "Compare the files of two checkpoints, or of one and now: /diff N [M]", _parse_diff
        ),
        TimelineSlashCommand(
            "patch", "Write the changes since a checkpoint as a patch: /patch N [M] [FILE]", _parse_patch
        ),
        TimelineSlashCommand(
            "bisect",
            "Find the step that made a command fail: /bisect COMMAND; also --stop, or --send the result",
            _parse_bisect,
        ),
        TimelineSlashCommand(
            "attempts",
            "Try a prompt again with other models, side by side: /attempts [N] --model A,B; also --adopt N",
            parse_attempts,
        ),
        TimelineSlashCommand(
            "why", "Show the prompt and step behind a line of a file: /why FILE:LINE", _parse_why
        ),
        TimelineSlashCommand(
            "comment",
            "Comment on a line: /comment FILE:LINE TEXT; also --edit N TEXT, --remove N, or --send all to"
            " the agent",
            _parse_comment,
        ),
        TimelineSlashCommand(
            "review",
            "List the changed files: /review [N [M]]; also --file FILE for its hunks, or --revert FILE.HUNK",
            _parse_review,
        ),
        TimelineSlashCommand(
            "name", "Name a checkpoint: /name N TEXT; without TEXT, remove its name", _parse_name
        ),
        TimelineSlashCommand(
            "note", "Revert to a checkpoint and leave the model a note: /note N TEXT", _parse_note
        ),
    )
    return tuple(it for it in commands if it.name in _READ_ONLY or not read_only)
