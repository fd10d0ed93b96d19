"""Timeline commands. Each shows a preview of its changes in a dialog first."""

import contextlib
import shlex
from typing import Literal, get_args

from kimi_tui.frontend.text.bisect import bisect_headline, bisect_offers
from kimi_tui.i18n.translate import tr
from kimi_tui.tui.commands.command_host import CommandHost
from kimi_tui.tui.commands.ui_command import UiCommand
from kimi_tui.tui.widgets.choice_list import Choice
from kimi_tui.wire.commands import RunSlash
from kimi_tui.wire.timeline import RevertScope

_DRY_RUN = "--dry-run"
_LAST = "last"
_ONLY = " --only "
_SCOPES = get_args(RevertScope)


async def _timeline(host: CommandHost, argument: str) -> None:
    if not argument:
        host.toggle_pane("timeline")
    elif argument.isdecimal():
        host.timeline.show_number(int(argument))
    else:
        host.notify(tr("Use /timeline, or /timeline N. N is a checkpoint number."), severity="error")


async def _revert(host: CommandHost, argument: str) -> None:
    options, _, path = f"{argument} ".partition(_ONLY)
    words = options.split()
    scopes = [word for word in words if word in _SCOPES]
    numbers = [word for word in words if word.isdecimal()]
    path = _remove_quotes(path.strip())
    if _DRY_RUN in argument.split():
        host.command(RunSlash(f"revert {argument}"))
    elif not words:
        host.toggle_pane("timeline")
    elif words == [_LAST]:
        host.timeline.revert_to_number(None)
    elif path and len(numbers) == 1 and words in (numbers, [*numbers, "files"]):
        host.timeline.revert_to_number(int(numbers[0]), scope="files", only=path)
    elif not path and len(numbers) == 1 and len(scopes) <= 1 and len(words) == len(numbers) + len(scopes):
        scope: RevertScope = scopes[0] if scopes else "both"  # type: ignore[assignment]
        host.timeline.revert_to_number(int(numbers[0]), scope=scope)
    else:
        host.notify(
            tr(
                "Use /revert last, or /revert N, optionally followed by conversation, files or turn, or by "
                "--only FILE. N is a checkpoint number."
            ),
            severity="error",
        )


def _remove_quotes(text: str) -> str:
    """Return a file's name without quotes around it."""
    with contextlib.suppress(ValueError):
        if len(words := shlex.split(text)) == 1:
            return words[0]
    return text


async def _undo(host: CommandHost, argument: str) -> None:
    await _undo_or_redo(host, "undo", argument)


async def _redo(host: CommandHost, argument: str) -> None:
    await _undo_or_redo(host, "redo", argument)


async def _undo_or_redo(host: CommandHost, action: Literal["undo", "redo"], argument: str) -> None:
    if not argument:
        host.timeline.undo_or_redo(action)
    elif argument == _DRY_RUN:
        host.command(RunSlash(f"{action} {argument}"))
    else:
        host.notify(
            tr("Use /{command}, or /{command} {option} for a preview.", command=action, option=_DRY_RUN),
            severity="error",
        )


async def _branches(host: CommandHost, _: str) -> None:
    host.timeline.choose_branch()


async def _note(host: CommandHost, argument: str) -> None:
    number, _, note = argument.partition(" ")
    if number.isdecimal() and note.strip():
        host.timeline.revert_to_number(int(number), note=note.strip())
    else:
        host.notify(tr("Use /note N TEXT. N is a checkpoint number."), severity="error")


async def _switch(host: CommandHost, argument: str) -> None:
    words = argument.split()
    if _DRY_RUN in words:
        host.command(RunSlash(f"switch {argument}"))
    elif not words:
        host.timeline.choose_branch()
    elif len(words) <= 2 and all(word.isdecimal() for word in words):
        to = int(words[1]) if len(words) == 2 else None
        host.timeline.switch_to_number(int(words[0]), to=to)
    else:
        host.notify(
            tr("Use /switch B or /switch B N. B is the number of a branch, N that of a checkpoint on it."),
            severity="error",
        )


async def _diff(host: CommandHost, argument: str) -> None:
    words = argument.split()
    if len(words) <= 2 and all(word.isdecimal() for word in words):
        numbers = [int(word) for word in words]
        host.timeline.compare_numbers(*numbers, *[None] * (2 - len(numbers)))
    else:
        host.notify(tr("Use /diff, /diff N or /diff N M. N and M are checkpoint numbers."), severity="error")


async def _review(host: CommandHost, argument: str) -> None:
    words = argument.split()
    if len(words) <= 2 and all(word.isdecimal() for word in words):
        numbers = [int(word) for word in words]
        host.timeline.review_numbers(*numbers, *[None] * (2 - len(numbers)))
    elif words[0] in ("--file", "--revert"):
        host.command(RunSlash(f"review {argument}"))
    else:
        host.notify(
            tr("Use /review, /review N or /review N M. N and M are checkpoint numbers."), severity="error"
        )


async def _attempts(host: CommandHost, argument: str) -> None:
    match argument.replace(",", " ").split():
        case []:
            host.timeline.open_attempts()
        case ["--adopt", *words] if words and all(word.isdecimal() for word in words):
            host.timeline.open_attempts([int(word) for word in words])
        case _:
            host.command(RunSlash(f"attempts {argument}"))


async def _bisect(host: CommandHost, argument: str) -> None:
    result = host.state.bisect_result
    offers = bisect_offers(result) if result is not None else []
    if argument or result is None or not offers:
        host.command(RunSlash(f"bisect {argument}".rstrip()))
        return
    choices = [
        Choice(value=command, label=f"{summary[:1].upper()}{summary[1:]}", detail=command)
        for command, summary in offers
    ]
    chosen = await host.dialogs.choose(bisect_headline(result), choices)
    if chosen is not None:
        await _run_offer(host, chosen)


async def _run_offer(host: CommandHost, line: str) -> None:
    name, _, argument = line.removeprefix("/").partition(" ")
    match name:
        case "revert":
            await _revert(host, argument)
        case "diff":
            await _diff(host, argument)
        case "timeline":
            await _timeline(host, argument)
        case _:
            host.command(RunSlash(line.removeprefix("/")))


TIMELINE_COMMANDS = (
    UiCommand(
        name="timeline",
        summary="Show or hide the timeline of checkpoints and branches",
        run=_timeline,
        argument="[N]",
        binding_id="panes.timeline",
    ),
    UiCommand(
        name="bisect",
        summary="Find the step that made a command fail, or choose what to do with the result",
        run=_bisect,
        argument="[COMMAND]",
    ),
    UiCommand(
        name="revert",
        summary="Preview a revert to a checkpoint and run it",
        run=_revert,
        argument="[last|N [conversation|files|turn] [--only FILE]]",
        aliases=("rewind",),
        binding_id="timeline.last",
    ),
    UiCommand(name="undo", summary="Undo the last revert", run=_undo, argument="[--dry-run]"),
    UiCommand(name="redo", summary="Redo the last undone revert", run=_redo, argument="[--dry-run]"),
    UiCommand(
        name="note",
        summary="Preview a revert to a checkpoint with a note for the model, and run it",
        run=_note,
        argument="N TEXT",
    ),
    UiCommand(name="branches", summary="Switch to another branch", run=_branches),
    UiCommand(
        name="switch",
        summary="Preview a switch to a branch and run it",
        run=_switch,
        argument="[BRANCH [N]]",
    ),
    UiCommand(
        name="diff",
        summary="Show file changes since your last prompt or between checkpoints",
        run=_diff,
        argument="[N [M]]",
    ),
    UiCommand(
        name="attempts",
        summary="Compare attempts with other models or prompts, and adopt the best",
        run=_attempts,
        argument="[N] --model A,B",
        binding_id="app.attempts",
    ),
    UiCommand(
        name="review",
        summary="Review the changes since the last review or between checkpoints, and comment on lines",
        run=_review,
        argument="[N [M]]",
        binding_id="app.review",
    ),
)
