"""Delivers the wire's messages to the screen, at most once per frame."""

import asyncio
import logging
from collections.abc import Callable
from time import thread_time
from typing import Protocol

from kimi_tui.wire.channel import Outgoing, Subscription

logger = logging.getLogger(__name__)

FRAME_S = 0.08
"""Minimum time between two batches, in seconds."""
_LOAD_DIVISOR = 4
"""If a batch takes longer than a frame, the pause after it limits batches to 1/4 of the CPU time ..."""
_MAX_PAUSE_S = 0.3
"""... but the pause is at most this many seconds, so that a long replay doesn't delay the next messages."""


class BatchView(Protocol):
    """Shows the session."""

    def show_batch(self, batch: list[Outgoing]) -> None:
        """Show the messages that arrived since the last batch."""
        ...


async def pump(
    subscription: Subscription,
    view: BatchView,
    *,
    frame_s: float = FRAME_S,
    now: Callable[[], float] = thread_time,
) -> None:
    """Pass messages to `view` in batches until the wire closes. Merge adjacent fragments.

    The first message after an idle period is shown immediately. Messages that follow within the same frame
    wait for the end of the frame. The view draws each batch immediately instead of waiting for a timer.
    """
    while batch := await subscription.drain():
        started_at = now()
        try:
            view.show_batch(batch)
        except Exception:
            # One faulty message must not prevent the following ones from being shown.
            logger.exception("a batch of %d messages could not be shown", len(batch))
        cost_s = now() - started_at
        load_pause_s = min(cost_s * (_LOAD_DIVISOR - 1), _MAX_PAUSE_S)
        await asyncio.sleep(load_pause_s if cost_s > frame_s else frame_s)
