"""The past of a session, as front ends are told of it."""

import asyncio
from collections.abc import Callable

from kimi_tui.engine.recorded import read_recording, with_commands
from kimi_tui.engine.replay import replayed
from kimi_tui.history.context import Context
from kimi_tui.history.session import Session
from kimi_tui.wire.events import Event, ReplayBegin, ReplayEnd


async def tell_past(
    send: Callable[[Event], None], session: Session, context: Context, *, anew: bool = False
) -> None:
    """Send what was said and run, between ReplayBegin and ReplayEnd; nothing for an empty conversation.

    With `anew` it takes the place of what was told before, also when it is empty.
    """
    if not (context.history or anew):
        return
    recorded = await asyncio.to_thread(read_recording, session.wire_file)
    commands = recorded.commands.values() if context.history else ()
    said = replayed(context.history, recorded.results, context.marked)
    send(ReplayBegin(anew))
    for event in with_commands(said, commands):
        send(event)
    send(ReplayEnd())
