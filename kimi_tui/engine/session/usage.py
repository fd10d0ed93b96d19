"""Token usage and cost of a session, saved in its state so that limits apply across runs."""

import logging

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.history.session import Session
from kimi_tui.soul.usage_totals import UsageTotals
from kimi_tui.wire.channel import Subscription

logger = logging.getLogger(__name__)

SAVE_INTERVAL_S = 1.0
"""Minimum number of seconds between two saves, so that short steps are saved together."""


class SessionUsage:
    """Tracks a session's usage and saves it in the background, so that turns never wait for the disk."""

    def __init__(self, session: Session) -> None:
        self._session = session
        state = session.state
        self.usage_totals = UsageTotals(
            state.usage,
            state.cost_usd,
            day=state.cost_day,
            day_cost_usd=state.cost_day_usd,
            models=state.model_usage,
        )
        """Usage of the session, earlier runs included."""
        self._last_saved = state.usage
        """Usage that was last saved, or that couldn't be saved."""

    async def save_until_closed(self, subscription: Subscription) -> None:
        """Save the usage after each batch of events until the Wire closes."""
        while await subscription.drain():
            await self._save()
            await subscription.wait_closed(SAVE_INTERVAL_S)
        await self._save()

    async def _save(self) -> None:
        usage = self.usage_totals.usage
        if usage == self._last_saved:
            return
        self._last_saved = usage
        try:
            await self._session.update_state(
                usage=usage,
                cost_usd=self.usage_totals.cost_usd,
                cost_day=self.usage_totals.day,
                cost_day_usd=self.usage_totals.day_cost_usd,
                model_usage=self.usage_totals.models,
            )
        except KimiTuiError as error:
            logger.warning("can't save the session's usage: %s", error)
