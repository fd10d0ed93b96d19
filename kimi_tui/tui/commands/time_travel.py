"""The commands of the timeline: each shows in a dialog what would change before anything does."""

from typing import Protocol, get_args

from kimi_tui.language.saying import say
from kimi_tui.tui.commands.registry import Host, SlashCommand
from kimi_tui.wire.commands import RunSlash
from kimi_tui.wire.timeline import RevertScope

_DRY_RUN = "--dry-run"
_SCOPES = get_args(RevertScope)


class Timeline(Protocol):
    """What the commands may do in time."""

    def go_back_to(self, number: int, *, scope: RevertScope = "both") -> None:
        """Show the plan of going back to a checkpoint, and carry it out if the user wants."""
        ...

    def undo_or_redo(self, what: str) -> None:
        """Show the plan of an undo or a redo, and carry it out if the user wants."""
        ...

    def choose_branch(self) -> None:
        """Let the user choose a branch to go on with."""
        ...

    def compare_numbers(self, before: int | None, after: int | None) -> None:
        """Show how the files differ between two checkpoints, the last prompt's and now without numbers."""
        ...


async def _timeline(host: Host, _: str) -> None:
    host.toggle_pane("timeline")


async def _revert(host: Host, argument: str) -> None:
    words = argument.split()
    scopes = [word for word in words if word in _SCOPES]
    numbers = [word for word in words if word.isdecimal()]
    if _DRY_RUN in words:
        host.command(RunSlash(f"revert {argument}"))
    elif not words:
        host.toggle_pane("timeline")
    elif len(numbers) == 1 and len(scopes) <= 1 and len(words) == len(numbers) + len(scopes):
        scope: RevertScope = scopes[0] if scopes else "both"  # type: ignore[assignment]
        host.timeline.go_back_to(int(numbers[0]), scope=scope)
    else:
        host.say(
            say("Say /revert N, or /revert N conversation, files or turn; N is a checkpoint's number."),
            severity="error",
        )


async def _undo(host: Host, argument: str) -> None:
    await _take_back(host, "undo", argument)


async def _redo(host: Host, argument: str) -> None:
    await _take_back(host, "redo", argument)


async def _take_back(host: Host, what: str, argument: str) -> None:
    if not argument:
        host.timeline.undo_or_redo(what)
    elif argument == _DRY_RUN:
        host.command(RunSlash(f"{what} {argument}"))
    else:
        host.say(
            say("Say /{what}, or /{what} {option} to read what it would do.", what=what, option=_DRY_RUN),
            severity="error",
        )


async def _branches(host: Host, _: str) -> None:
    host.timeline.choose_branch()


async def _diff(host: Host, argument: str) -> None:
    words = argument.split()
    if len(words) <= 2 and all(word.isdecimal() for word in words):
        numbers = [int(word) for word in words]
        host.timeline.compare_numbers(*numbers, *[None] * (2 - len(numbers)))
    else:
        host.say(say("Say /diff, /diff N, or /diff N M, with the numbers of checkpoints."), severity="error")


TIMELINE_COMMANDS = (
    SlashCommand(
        name="timeline",
        summary="Go back in time: every step, its files, and the branches",
        run=_timeline,
        binding_id="panes.timeline",
    ),
    SlashCommand(
        name="revert",
        summary="Go back to a checkpoint; shows first what would change",
        run=_revert,
        argument="[N [conversation|files|turn]]",
        aliases=("rewind",),
    ),
    SlashCommand(name="undo", summary="Take the last jump in time back", run=_undo, argument="[--dry-run]"),
    SlashCommand(name="redo", summary="Take the last undo back", run=_redo, argument="[--dry-run]"),
    SlashCommand(name="branches", summary="Go on with what was undone, cleared or compacted", run=_branches),
    SlashCommand(
        name="diff",
        summary="What has changed in the files: since your last prompt, or between checkpoints",
        run=_diff,
        argument="[N [M]]",
    ),
)
