"""Preparation for commands that run before the user allows them."""

import asyncio
import logging
from contextlib import suppress

from kimi_tui.engine.session.turns import TurnQueue
from kimi_tui.soul.runtime_settings import RuntimeSettings
from kimi_tui.tools.shell.trial_runs import TrialRuns

logger = logging.getLogger(__name__)

_DELAY_S = 1.0
"""Seconds before the preparation begins, to let the first frame come first. A turn ends the delay."""
_SLICE_S = 0.003
"""Duration of a slice of work in seconds, and so the longest time that a pressed key waits."""
_IDLE_PAUSE_S = 0.03
_TURN_PAUSE_S = 0.003
"""Pause between two slices in seconds during a turn. It is short, because a command may follow soon."""


class TrialPreparation:
    """Prepares a session's first command in short slices.

    Otherwise, the first command in a large project would wait for the search for files with secrets.
    """

    def __init__(
        self, trial_runs: TrialRuns, *, turns: TurnQueue, runtime_settings: RuntimeSettings, runs_first: bool
    ) -> None:
        """`runs_first`: whether commands run before the user allows them."""
        self._trial_runs = trial_runs
        self._turns = turns
        self._runtime_settings = runtime_settings
        self._runs_first = runs_first

    async def run(self) -> None:
        """Prepare the first command, until done or canceled."""
        if not self._runs_first:
            return
        loop = asyncio.get_running_loop()
        with suppress(TimeoutError):
            async with asyncio.timeout(_DELAY_S):
                await self._turns.first_turn_began.wait()
        began = loop.time()
        while True:
            if self._runtime_settings.yolo or not await self._trial_runs.prepare(_SLICE_S):
                break
            await asyncio.sleep(_TURN_PAUSE_S if self._turns.is_running else _IDLE_PAUSE_S)
        logger.debug("prepared the first command in %.3f s", loop.time() - began)
