"""The modes that a key goes through: asking, accepting edits, planning."""

from kimi_tui.language.saying import say
from kimi_tui.tui.commands.registry import Host, SlashCommand
from kimi_tui.tui.state import ScreenState
from kimi_tui.wire.commands import Command, RunSlash, SetAcceptEdits, SetPlanMode
from kimi_tui.wire.events import SessionInfo

_PLAN_CHOICES = ("on", "off", "view", "clear")
_SWITCH = ("on", "off")


def next_mode(session: SessionInfo) -> tuple[tuple[Command, ...], str]:
    """What leads to the mode after the one of `session`, and what that means.

    Where everything is approved anyway (yolo), accepting edits is left out.
    """
    if session.plan_mode:
        how = say("Everything is approved.") if session.yolo else say("Changes are asked for.")
        return (SetPlanMode(False),), say("Plan mode is off. {how}", how=how)
    plan = say("Plan mode: only reading, until you have approved a plan.")
    if session.accept_edits:
        return (SetAcceptEdits(False), SetPlanMode(True)), plan
    if session.yolo:
        return (SetPlanMode(True),), plan
    return (SetAcceptEdits(True),), say("Edits in the work dir are accepted; all else is asked for.")


def cycle_mode(host: Host) -> None:
    """Go to the next mode, and say so."""
    session = host.state.session
    if session is not None:
        commands, meaning = next_mode(session)
        for command in commands:
            host.command(command)
        host.say(meaning)


async def _plan(host: Host, argument: str) -> None:
    host.command(RunSlash(f"plan {argument}".rstrip()))


async def _edits(host: Host, argument: str) -> None:
    session = host.state.session
    now = session is not None and session.accept_edits
    enabled = not now if not argument else {"on": True, "off": False}.get(argument.lower())
    if enabled is None:
        host.say(say("Say /edits on or /edits off."), severity="error")
        return
    host.command(SetAcceptEdits(enabled))
    host.say(say("Edits in the work dir are accepted.") if enabled else say("Edits are asked for again."))


def _plan_choices(_: ScreenState) -> tuple[str, ...]:
    return _PLAN_CHOICES


def _switches(_: ScreenState) -> tuple[str, ...]:
    return _SWITCH


MODE_COMMANDS = (
    SlashCommand(
        name="plan",
        summary="Only read until a plan is approved; show or forget the plan",
        run=_plan,
        argument="[on|off|view|clear]",
        choices=_plan_choices,
        binding_id="prompt.mode",
    ),
    SlashCommand(
        name="edits",
        summary="Accept edits in the work dir, or ask again",
        run=_edits,
        argument="[on|off]",
        choices=_switches,
        binding_id="prompt.mode",
    ),
)
