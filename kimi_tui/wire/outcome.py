"""What came of a command of the timeline, for whoever waits for it."""

from collections.abc import Sequence

from kimi_tui.wire.channel import Outgoing, Wire, WireClosed
from kimi_tui.wire.commands import SaveRecording, TravelCommand
from kimi_tui.wire.events import Notification


async def travelled(wire: Wire, command: TravelCommand, answer: type | None) -> Sequence[Outgoing]:
    """Have the engine follow `command`; all that was told meanwhile.

    Jumps are made beside the commands, but the next command waits for them. Plans are, too, and nothing waits
    for those: their answer, or the error in its place, is awaited. Raises WireClosed.
    """
    subscription = wire.subscribe()
    try:
        await wire.carry_out(command)
        await wire.carry_out(SaveRecording())
        events = subscription.take()
        while answer is not None and not any(isinstance(it, answer) or _is_refusal(it) for it in events):
            batch = await subscription.drain()
            if not batch:
                raise WireClosed
            events += batch
        return events
    finally:
        subscription.close()


def _is_refusal(event: Outgoing) -> bool:
    return isinstance(event, Notification) and event.severity == "error"
