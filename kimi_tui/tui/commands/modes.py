"""Permission modes that a key cycles through: ask, accept edits, plan."""

from kimi_tui.frontend.session_state import SessionViewState
from kimi_tui.i18n.translate import tr
from kimi_tui.tui.commands.command_host import CommandHost
from kimi_tui.tui.commands.ui_command import UiCommand
from kimi_tui.wire.commands import Command, RunSlash, SetAcceptEdits, SetPlanMode
from kimi_tui.wire.events import SessionInfo

_PLAN_CHOICES = ("on", "off", "view", "clear")
_SWITCH = ("on", "off")


def next_mode(session: SessionInfo) -> tuple[tuple[Command, ...], str]:
    """Return the commands that switch to the mode after the current one, and the status to show.

    With yolo, "accept edits" is skipped, since everything is approved anyway.
    """
    if session.plan_mode:
        status = tr("Permission mode: yolo") if session.yolo else tr("Permission mode: ask")
        return (SetPlanMode(False),), status
    plan_status = tr("Permission mode: plan. The agent only reads until you approve a plan.")
    if session.accept_edits:
        return (SetAcceptEdits(False), SetPlanMode(True)), plan_status
    if session.yolo:
        return (SetPlanMode(True),), plan_status
    return (SetAcceptEdits(True),), tr("Permission mode: accept edits (in the working directory)")


def cycle_mode(host: CommandHost) -> None:
    """Switch to the next mode and show its name."""
    session = host.state.session
    if session is not None:
        commands, status = next_mode(session)
        for command in commands:
            host.command(command)
        host.notify(status, topic="mode")


async def _plan(host: CommandHost, argument: str) -> None:
    host.command(RunSlash(f"plan {argument}".rstrip()))


async def _edits(host: CommandHost, argument: str) -> None:
    session = host.state.session
    current = session is not None and session.accept_edits
    enabled = not current if not argument else {"on": True, "off": False}.get(argument.lower())
    if enabled is None:
        host.notify(tr("Use /edits on or /edits off."), severity="error")
        return
    host.command(SetAcceptEdits(enabled))
    host.notify(
        tr("Permission mode: accept edits (in the working directory)")
        if enabled
        else tr("Permission mode: ask"),
        topic="mode",
    )


def _plan_arguments(_: SessionViewState) -> tuple[str, ...]:
    return _PLAN_CHOICES


def _switch_values(_: SessionViewState) -> tuple[str, ...]:
    return _SWITCH


MODE_COMMANDS = (
    UiCommand(
        name="plan",
        summary="Turn plan mode on or off; view or clear the plan",
        run=_plan,
        argument="[on|off|view|clear]",
        choices=_plan_arguments,
        binding_id="prompt.mode",
    ),
    UiCommand(
        name="edits",
        summary="Accept edits in the working directory, or ask again",
        run=_edits,
        argument="[on|off]",
        choices=_switch_values,
        binding_id="prompt.mode",
    ),
)
