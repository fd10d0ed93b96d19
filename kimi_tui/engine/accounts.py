"""The accounts of a session: what it has used, kept in its state so that limits hold over restarts."""

import logging

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.history.session import Session
from kimi_tui.soul.spending import Spending
from kimi_tui.wire.channel import Subscription

logger = logging.getLogger(__name__)

SAVE_EVERY_S = 1.0
"""The least time between two savings while the session goes on: short steps are saved together."""


class Accounts:
    """Keeps a session's spending, beside its turns: none of them waits for the disk."""

    def __init__(self, session: Session) -> None:
        self._session = session
        state = session.state
        self.spending = Spending(state.usage, state.cost_usd)
        """What the session has used, in earlier runs too."""
        self._tried = state.usage
        """What was last written, or could not be."""

    async def keep(self, subscription: Subscription) -> None:
        """Save what was spent as it is told of, until the Wire closes."""
        while await subscription.drain():
            await self._save()
            await subscription.closing(SAVE_EVERY_S)
        await self._save()

    async def _save(self) -> None:
        usage = self.spending.usage
        if usage == self._tried:
            return
        self._tried = usage
        try:
            await self._session.update_state(usage=usage, cost_usd=self.spending.cost_usd)
        except KimiTuiError as error:
            logger.warning("what the session has used could not be saved: %s", error)
