"""The slash commands of the timeline: what the pane does by keys, for whoever types."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Protocol, get_args

from kimi_tui.base.errors import UsageError
from kimi_tui.engine.slash_book import SlashCommand
from kimi_tui.wire.commands import (
    Compare,
    ForkSession,
    NameCheckpoint,
    PlanRevert,
    PlanSwitch,
    Redo,
    Revert,
    SwitchBranch,
    TravelCommand,
    Undo,
    WritePatch,
)
from kimi_tui.wire.timeline import RevertScope

_DRY_RUN = "--dry-run"
_SCOPES: tuple[RevertScope, ...] = get_args(RevertScope)
_NUMBERS = "/checkpoints lists the numbers."


class Traveller(Protocol):
    """What these commands may do to a session."""

    async def travel(self, command: TravelCommand) -> None:
        """Do something with the timeline."""
        ...

    async def list_checkpoints(self) -> None:
        """Show the checkpoints."""
        ...

    async def list_branches(self) -> None:
        """Show the branches."""
        ...


async def _revert(traveller: Traveller, argument: str) -> None:
    words = argument.split()
    is_dry = _DRY_RUN in words
    numbers = _numbers(words)
    scopes = [scope for scope in _SCOPES if scope in words]
    if len(numbers) != 1 or len(scopes) > 1 or len(words) != is_dry + 1 + len(scopes):
        raise UsageError(
            "/revert takes the number of a checkpoint.",
            hint=f"Type /revert N [{_DRY_RUN}] [{'|'.join(_SCOPES[1:])}]; {_NUMBERS}",
        )
    scope = scopes[0] if scopes else "both"
    await traveller.travel(PlanRevert(numbers[0], scope) if is_dry else Revert(numbers[0], scope))


async def _undo(traveller: Traveller, argument: str) -> None:
    await traveller.travel(PlanRevert("undo") if _is_dry("undo", argument) else Undo())


async def _redo(traveller: Traveller, argument: str) -> None:
    await traveller.travel(PlanRevert("redo") if _is_dry("redo", argument) else Redo())


def _is_dry(name: str, argument: str) -> bool:
    if argument.strip() not in ("", _DRY_RUN):
        raise UsageError(
            f"/{name} takes one jump at a time, and nothing but {_DRY_RUN} after its name.",
            hint=f"Type /{name} [{_DRY_RUN}]; /revert N goes to any checkpoint.",
        )
    return bool(argument.strip())


async def _checkpoints(traveller: Traveller, _: str) -> None:
    await traveller.list_checkpoints()


async def _branches(traveller: Traveller, _: str) -> None:
    await traveller.list_branches()


async def _switch(traveller: Traveller, argument: str) -> None:
    words = argument.split()
    is_dry = _DRY_RUN in words
    numbers = _numbers(words)
    if len(numbers) not in {1, 2} or len(words) != is_dry + len(numbers):
        raise UsageError(
            "/switch takes the number of a branch, and may take a checkpoint of it.",
            hint=f"Type /switch BRANCH [CHECKPOINT] [{_DRY_RUN}]; /branches lists the branches.",
        )
    to = numbers[1] if len(numbers) == 2 else None
    await traveller.travel(PlanSwitch(numbers[0], to) if is_dry else SwitchBranch(numbers[0], to))


async def _fork(traveller: Traveller, argument: str) -> None:
    numbers = _numbers(argument.split())
    if argument and len(numbers) != 1:
        raise UsageError("/fork takes the number of a checkpoint, or nothing.", hint=_NUMBERS)
    await traveller.travel(ForkSession(numbers[0] if numbers else None))


async def _diff(traveller: Traveller, argument: str) -> None:
    words = argument.split()
    numbers = _numbers(words)
    if len(numbers) not in {1, 2} or len(numbers) != len(words):
        raise UsageError(
            "/diff takes one checkpoint, to compare it with now, or two.",
            hint=f"Type /diff N [M]; {_NUMBERS}",
        )
    await traveller.travel(Compare(numbers[0], numbers[1] if len(numbers) == 2 else None))


async def _patch(traveller: Traveller, argument: str) -> None:
    words = argument.split()
    numbers = _numbers(words[:2])
    if not numbers or not words[0].isdecimal():
        raise UsageError(
            "/patch takes one checkpoint, to write what changed since, or two, and may take a file.",
            hint=f"Type /patch N [M] [FILE]; {_NUMBERS}",
        )
    path = argument.split(maxsplit=len(numbers))[len(numbers) :]
    after = numbers[1] if len(numbers) == 2 else None
    await traveller.travel(WritePatch(numbers[0], after, path[0] if path else ""))


async def _name(traveller: Traveller, argument: str) -> None:
    number, _, name = argument.partition(" ")
    if not number.isdecimal():
        raise UsageError(
            "/name takes the number of a checkpoint, and its name.",
            hint=f"Type /name N TEXT, or /name N to take the name away; {_NUMBERS}",
        )
    await traveller.travel(NameCheckpoint(int(number), name.strip()))


async def _note(traveller: Traveller, argument: str) -> None:
    number, _, note = argument.partition(" ")
    if not number.isdecimal() or not note.strip():
        raise UsageError(
            "/note takes the number of a checkpoint, and what the model is to read there.",
            hint=f"Type /note N TEXT; {_NUMBERS}",
        )
    await traveller.travel(Revert(int(number), note=note.strip()))


def _numbers(words: Sequence[str]) -> list[int]:
    return [int(word) for word in words if word.isdecimal() and len(word) < 16]


_COMMANDS: tuple[tuple[str, str, Callable[[Traveller, str], Awaitable[None]]], ...] = (
    ("revert", f"Go back: /revert N [{_DRY_RUN}] [{'|'.join(_SCOPES[1:])}]", _revert),
    ("undo", f"Take the last revert back; {_DRY_RUN} shows what that would do", _undo),
    ("redo", f"Take the last undo back; {_DRY_RUN} shows what that would do", _redo),
    ("checkpoints", "List the checkpoints to go back to, and what is not covered", _checkpoints),
    ("branches", "List the lines of the conversation that were left", _branches),
    ("switch", f"Go on with a branch: /switch BRANCH [CHECKPOINT] [{_DRY_RUN}]", _switch),
    ("fork", "Make a checkpoint a session of its own: /fork [N]", _fork),
    ("diff", "Compare the files of two checkpoints, or of one and now: /diff N [M]", _diff),
    ("patch", "Write what changed since a checkpoint for git apply: /patch N [M] [FILE]", _patch),
    ("name", "Name a checkpoint: /name N TEXT; without TEXT its name is taken away", _name),
    ("note", "Go back and leave the model a note to read there: /note N TEXT", _note),
)


_LOOKING = ("checkpoints", "branches", "diff")


def travel_commands(traveller: Traveller, *, only_looking: bool = False) -> tuple[SlashCommand, ...]:
    """The commands of the timeline; with `only_looking` those that change nothing."""
    return tuple(
        SlashCommand(name, about, partial(run, traveller))
        for name, about, run in _COMMANDS
        if name in _LOOKING or not only_looking
    )
