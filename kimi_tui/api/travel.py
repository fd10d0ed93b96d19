"""Time travel: commands of the timeline, each awaited with what came of it."""

from typing import TypeVar

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.wire.channel import Wire, WireClosed
from kimi_tui.wire.commands import TravelCommand
from kimi_tui.wire.outcome import refusal_in, travelled

E = TypeVar("E")


async def outcome_of(wire: Wire, command: TravelCommand, kind: type[E]) -> E:
    """Have the engine do it and return the event of `kind` that it brings about.

    Raises KimiTuiError when the engine refuses, and when the session has ended.
    """
    try:
        events = await travelled(wire, command)
    except WireClosed:
        raise KimiTuiError("The session has ended.", hint="Open another one with KimiTui.create.") from None
    found = [event for event in events if isinstance(event, kind)]
    if found:
        return found[-1]
    if (refusal := refusal_in(events)) is not None:
        raise KimiTuiError(refusal.title, hint=refusal.body)
    raise KimiTuiError("Nothing came of it.", hint="Look at `timeline()` for what there is to go to.")
