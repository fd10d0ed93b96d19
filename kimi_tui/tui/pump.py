"""The pump: carries what the wire delivers to the screen, at most once a frame."""

import asyncio
import logging
from collections.abc import Callable

from kimi_tui.wire.channel import Outgoing, Subscription

logger = logging.getLogger(__name__)

FRAME_S = 0.08
"""The least time between two batches."""


async def pump(
    subscription: Subscription, show: Callable[[list[Outgoing]], None], *, frame_s: float = FRAME_S
) -> None:
    """Show what arrives, in batches with adjacent fragments merged, until the wire closes.

    What arrives after a rest is shown at once; only what follows within the frame waits for its end.
    """
    while batch := await subscription.drain():
        try:
            show(batch)
        except Exception:
            # One message that can't be shown must not keep the next ones from the screen.
            logger.exception("a batch of %d messages could not be shown", len(batch))
        await asyncio.sleep(frame_s)
