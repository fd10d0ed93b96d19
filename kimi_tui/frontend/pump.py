"""Delivers the wire's messages to the screen, at most once per frame."""

import asyncio
import logging
from collections.abc import Callable

from kimi_tui.wire.channel import Outgoing, Subscription

logger = logging.getLogger(__name__)

FRAME_S = 0.08
"""Minimum time between two batches."""


async def pump(
    subscription: Subscription, show: Callable[[list[Outgoing]], None], *, frame_s: float = FRAME_S
) -> None:
    """Pass messages to `show` in batches with adjacent fragments merged, until the wire closes.

    The first message after an idle period is shown immediately. Messages that follow within the frame wait
    for its end.
    """
    while batch := await subscription.drain():
        try:
            show(batch)
        except Exception:
            # One faulty message must not prevent the following ones from being shown.
            logger.exception("a batch of %d messages could not be shown", len(batch))
        await asyncio.sleep(frame_s)
