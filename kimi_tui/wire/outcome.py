"""What came of a command of the timeline, for whoever waits for it."""

from collections.abc import Sequence

from kimi_tui.wire.channel import Outgoing, Wire
from kimi_tui.wire.commands import TravelCommand
from kimi_tui.wire.events import Notification


async def travelled(wire: Wire, command: TravelCommand) -> Sequence[Outgoing]:
    """Have the engine follow `command`; all that was told meanwhile. Raises WireClosed."""
    subscription = wire.subscribe()
    try:
        await wire.carry_out(command)
        return subscription.take()
    finally:
        subscription.close()


def refusal_in(events: Sequence[Outgoing]) -> Notification | None:
    """Why a command did not do all that it should: an error, else that it was given up."""
    told = [event for event in events if isinstance(event, Notification)]
    return next((it for it in told if it.severity == "error"), told[-1] if told else None)
