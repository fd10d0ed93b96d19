"""Timeline commands that wait for their outcome."""

from typing import TypeVar

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.wire.channel import Wire, WireClosed
from kimi_tui.wire.commands import TimelineCommand
from kimi_tui.wire.revert_outcome import find_failure, run_timeline_command

E = TypeVar("E")


async def await_outcome(wire: Wire, command: TimelineCommand, kind: type[E]) -> E:
    """Send `command` to the engine and return the resulting event of `kind`.

    Raises KimiTuiError if the command fails or the session has ended.
    """
    try:
        events = await run_timeline_command(wire, command)
    except WireClosed:
        raise KimiTuiError("The session has ended.", hint="Create a new one with KimiTui.create.") from None
    outcomes = [event for event in events if isinstance(event, kind)]
    if outcomes:
        return outcomes[-1]
    if (failure := find_failure(events)) is not None:
        raise KimiTuiError(failure.title, hint=failure.body)
    raise KimiTuiError("The command had no effect.", hint="List the checkpoints with `timeline()`.")
