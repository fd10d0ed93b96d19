"""Slash commands of the timeline."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Protocol, get_args

from kimi_tui.base.errors import UsageError
from kimi_tui.engine.slash.registry import SlashCommand
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
from kimi_tui.wire.timeline import RevertScope

_DRY_RUN = "--dry-run"
_SCOPES: tuple[RevertScope, ...] = get_args(RevertScope)
_NUMBERS_HINT = "/checkpoints lists the numbers."


class TimelineOperations(Protocol):
    """Operations that the timeline's slash commands use."""

    async def handle_timeline_command(self, command: TimelineCommand) -> None:
        """Handle a timeline command."""
        ...

    async def list_checkpoints(self) -> None:
        """Show the checkpoints."""
        ...

    async def list_branches(self) -> None:
        """Show the branches."""
        ...


async def _revert(operations: TimelineOperations, argument: str) -> None:
    words = argument.split()
    is_dry_run = _DRY_RUN in words
    numbers = _parse_numbers(words)
    scopes = [scope for scope in _SCOPES if scope in words]
    if len(numbers) != 1 or len(scopes) > 1 or len(words) != is_dry_run + 1 + len(scopes):
        raise UsageError(
            "/revert requires a checkpoint number.",
            hint=f"Type /revert N [{_DRY_RUN}] [{'|'.join(_SCOPES[1:])}]; {_NUMBERS_HINT}",
        )
    scope = scopes[0] if scopes else "both"
    await operations.handle_timeline_command(
        PlanRevert(numbers[0], scope) if is_dry_run else Revert(numbers[0], scope)
    )


async def _undo(operations: TimelineOperations, argument: str) -> None:
    await operations.handle_timeline_command(PlanRevert("undo") if _is_dry_run("undo", argument) else Undo())


async def _redo(operations: TimelineOperations, argument: str) -> None:
    await operations.handle_timeline_command(PlanRevert("redo") if _is_dry_run("redo", argument) else Redo())


def _is_dry_run(name: str, argument: str) -> bool:
    if argument.strip() not in ("", _DRY_RUN):
        raise UsageError(
            f"/{name} takes no arguments except {_DRY_RUN}.",
            hint=f"Type /{name} [{_DRY_RUN}]. To revert to any checkpoint, type /revert N.",
        )
    return bool(argument.strip())


async def _checkpoints(operations: TimelineOperations, _: str) -> None:
    await operations.list_checkpoints()


async def _branches(operations: TimelineOperations, _: str) -> None:
    await operations.list_branches()


async def _switch(operations: TimelineOperations, argument: str) -> None:
    words = argument.split()
    is_dry_run = _DRY_RUN in words
    numbers = _parse_numbers(words)
    if len(numbers) not in {1, 2} or len(words) != is_dry_run + len(numbers):
        raise UsageError(
            "/switch requires a branch number.",
            hint=f"Use /switch BRANCH [CHECKPOINT] [{_DRY_RUN}]. /branches lists the branches.",
        )
    to = numbers[1] if len(numbers) == 2 else None
    await operations.handle_timeline_command(
        PlanSwitch(numbers[0], to) if is_dry_run else SwitchBranch(numbers[0], to)
    )


async def _fork(operations: TimelineOperations, argument: str) -> None:
    numbers = _parse_numbers(argument.split())
    if argument and len(numbers) != 1:
        raise UsageError("/fork takes a checkpoint number or no argument.", hint=_NUMBERS_HINT)
    await operations.handle_timeline_command(ForkSession(numbers[0] if numbers else None))


async def _diff(operations: TimelineOperations, argument: str) -> None:
    words = argument.split()
    numbers = _parse_numbers(words)
    if len(numbers) not in {1, 2} or len(numbers) != len(words):
        raise UsageError(
            "/diff requires one or two checkpoint numbers.",
            hint=f"Type /diff N [M]; {_NUMBERS_HINT}",
        )
    await operations.handle_timeline_command(Compare(numbers[0], numbers[1] if len(numbers) == 2 else None))


async def _patch(operations: TimelineOperations, argument: str) -> None:
    words = argument.split()
    numbers = _parse_numbers(words[:2])
    if not numbers or not words[0].isdecimal():
        raise UsageError(
            "/patch requires one or two checkpoint numbers.",
            hint=f"Type /patch N [M] [FILE]; {_NUMBERS_HINT}",
        )
    path = argument.split(maxsplit=len(numbers))[len(numbers) :]
    after = numbers[1] if len(numbers) == 2 else None
    await operations.handle_timeline_command(WritePatch(numbers[0], after, path[0] if path else ""))


async def _name(operations: TimelineOperations, argument: str) -> None:
    number, _, name = argument.partition(" ")
    if not number.isdecimal():
        raise UsageError(
            "/name requires a checkpoint number.",
            hint=f"Type /name N TEXT, or /name N to remove the name; {_NUMBERS_HINT}",
        )
    await operations.handle_timeline_command(NameCheckpoint(int(number), name.strip()))


async def _note(operations: TimelineOperations, argument: str) -> None:
    number, _, note = argument.partition(" ")
    if not number.isdecimal() or not note.strip():
        raise UsageError(
            "/note requires a checkpoint number and a note.",
            hint=f"Type /note N TEXT; {_NUMBERS_HINT}",
        )
    await operations.handle_timeline_command(Revert(int(number), note=note.strip()))


def _parse_numbers(words: Sequence[str]) -> list[int]:
    return [int(word) for word in words if word.isdecimal() and len(word) < 16]


_COMMANDS: tuple[tuple[str, str, Callable[[TimelineOperations, str], Awaitable[None]]], ...] = (
    ("revert", f"Revert to a checkpoint: /revert N [{_DRY_RUN}] [{'|'.join(_SCOPES[1:])}]", _revert),
    ("undo", f"Undo the last revert; {_DRY_RUN} shows a preview", _undo),
    ("redo", f"Redo the last undone revert; {_DRY_RUN} shows a preview", _redo),
    ("checkpoints", "List checkpoints, and the files that they don't cover", _checkpoints),
    ("branches", "List branches", _branches),
    ("switch", f"Switch to a branch: /switch BRANCH [CHECKPOINT] [{_DRY_RUN}]", _switch),
    ("fork", "Fork the session, optionally at a checkpoint: /fork [N]", _fork),
    ("diff", "Compare the files of two checkpoints, or of one and now: /diff N [M]", _diff),
    ("patch", "Write the changes since a checkpoint as a patch: /patch N [M] [FILE]", _patch),
    ("name", "Name a checkpoint: /name N TEXT; without TEXT, remove its name", _name),
    ("note", "Revert to a checkpoint and leave the model a note: /note N TEXT", _note),
)


_READ_ONLY = ("checkpoints", "branches", "diff")


def timeline_slash_commands(
    operations: TimelineOperations, *, read_only: bool = False
) -> tuple[SlashCommand, ...]:
    """Return the commands of the timeline; if `read_only`, only those that change nothing."""
    return tuple(
        SlashCommand(name, description, partial(run, operations))
        for name, description, run in _COMMANDS
        if name in _READ_ONLY or not read_only
    )
