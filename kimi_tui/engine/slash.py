"""The slash commands that every session has: small functions over what may be done to it."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Protocol, get_args

from kimi_tui.base.errors import UsageError
from kimi_tui.engine.slash_book import SlashCommand
from kimi_tui.wire.commands import PlanRevert, Redo, Revert, TravelCommand, Undo
from kimi_tui.wire.events import RevertScope

_DRY_RUN = "--dry-run"


class SlashTarget(Protocol):
    """What a slash command may do to a session."""

    async def clear(self) -> None:
        """Empty the conversation; what was said stays as a branch."""
        ...

    async def travel(self, command: TravelCommand) -> None:
        """Go to another checkpoint, or show what that would do."""
        ...

    async def list_checkpoints(self) -> None:
        """Show the checkpoints."""
        ...

    async def compact(self, focus: str) -> None:
        """Make the conversation shorter; a summary looks at `focus` above all."""
        ...

    async def set_title(self, title: str) -> None:
        """Name the session."""
        ...


async def _clear(target: SlashTarget, _: str) -> None:
    await target.clear()


async def _compact(target: SlashTarget, focus: str) -> None:
    await target.compact(focus)


async def _title(target: SlashTarget, title: str) -> None:
    await target.set_title(title)


async def _revert(target: SlashTarget, argument: str) -> None:
    words = argument.split()
    is_dry = _DRY_RUN in words
    numbers = [int(word) for word in words if word.isdecimal()]
    scopes = [scope for scope in get_args(RevertScope) if scope in words]
    if len(numbers) != 1 or len(scopes) > 1 or len(words) != is_dry + 1 + len(scopes):
        raise UsageError(
            "/revert takes the number of a checkpoint.",
            hint=f"Type /revert N [{_DRY_RUN}] [conversation|files]; /checkpoints lists the numbers.",
        )
    if is_dry:
        await target.travel(PlanRevert(numbers[0]))
    else:
        await target.travel(Revert(numbers[0], scopes[0] if scopes else "both"))


async def _undo(target: SlashTarget, argument: str) -> None:
    await target.travel(PlanRevert("undo") if argument == _DRY_RUN else Undo())


async def _redo(target: SlashTarget, argument: str) -> None:
    await target.travel(PlanRevert("redo") if argument == _DRY_RUN else Redo())


async def _checkpoints(target: SlashTarget, _: str) -> None:
    await target.list_checkpoints()


def own_commands(target: SlashTarget) -> tuple[SlashCommand, ...]:
    """The commands that every session has."""

    def command(
        name: str,
        description: str,
        run: Callable[[SlashTarget, str], Awaitable[None]],
        *,
        takes_turn: bool = False,
    ) -> SlashCommand:
        return SlashCommand(name, description, partial(run, target), takes_turn=takes_turn)

    return (
        command("clear", "Start over with an empty conversation; this one stays on disk", _clear),
        command("revert", "Go back: /revert N [--dry-run] [conversation|files]", _revert),
        command("undo", "Take the last revert back; --dry-run shows what that would do", _undo),
        command("redo", "Take the last undo back; --dry-run shows what that would do", _redo),
        command("checkpoints", "List the checkpoints to go back to", _checkpoints),
        command(
            "compact",
            "Make the conversation shorter: /compact [WHAT TO LOOK AT ABOVE ALL]",
            _compact,
            takes_turn=True,
        ),
        command("title", "Name this session: /title NAME", _title),
    )
