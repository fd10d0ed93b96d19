"""One run of an engine behind its wire, from its start to its end, as the app sees it."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.secrets import blacked_out
from kimi_tui.wire.channel import Wire

logger = logging.getLogger(__name__)

FAREWELL_S = 5.0
"""How long the engine may take to save and close; leaving again does not wait."""


class EngineRun:
    """Knows whether the engine has ended, and what ended it."""

    def __init__(self, wire: Wire, start: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """`start` serves the wire until it is told to shut down."""
        self.wire = wire
        self._start = start
        self._ended = asyncio.Event()
        self.failure: KimiTuiError | None = None
        """What ended it, when it was not told to."""

    @property
    def has_ended(self) -> bool:
        """Whether the engine has gone."""
        return self._ended.is_set()

    async def serve(self) -> None:
        """Have the engine serve until its end; `failure` tells what went wrong."""
        try:
            await self._start()
        except KimiTuiError as error:
            self.failure = error
        except Exception as error:
            logger.exception("the engine failed")
            self.failure = KimiTuiError(
                blacked_out(f"The session ended by an internal error: {type(error).__name__}: {error}."),
                hint="What was said is on disk; start again with --continue.",
            )
        finally:
            self._ended.set()

    async def ended_in_order(self) -> bool:
        """Wait for the end, but not for ever. Whether it came, and all that was said is written down."""
        try:
            async with asyncio.timeout(FAREWELL_S):
                await self._ended.wait()
        except TimeoutError:
            logger.warning("the engine did not close in time")
            return False
        return self.failure is None
