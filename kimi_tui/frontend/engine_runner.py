"""Runs an engine behind its wire, from start to end."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.message_text import msg
from kimi_tui.wire.channel import Wire

logger = logging.getLogger(__name__)

SHUTDOWN_TIMEOUT_S = 5.0
"""Maximum seconds for the engine to save and close. Quitting a second time doesn't wait."""


class EngineRunner:
    """Runs the engine and records whether and why it has ended."""

    def __init__(self, wire: Wire, start: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """`start` serves the wire until the engine shuts down."""
        self.wire = wire
        self._start = start
        self._ended = asyncio.Event()
        self.failure: KimiTuiError | None = None
        """The error that ended the engine. None if it shut down normally."""

    @property
    def has_ended(self) -> bool:
        """Whether the engine has ended."""
        return self._ended.is_set()

    async def serve(self) -> None:
        """Run the engine until it ends. An error is stored in `failure`."""
        try:
            await self._start()
        except KimiTuiError as error:
            self.failure = error
        except Exception as error:
            from kimi_tui.base.redaction import redact  # compiles long patterns

            logger.exception("the engine failed")
            self.failure = KimiTuiError(
                msg(
                    "The session ended with an internal error: {error}: {problem}.",
                    error=type(error).__name__,
                    problem=redact(str(error)),
                ),
                hint="The conversation is saved. Resume it with --continue.",
            )
        finally:
            self._ended.set()

    async def wait_for_clean_end(self) -> bool:
        """Wait at most SHUTDOWN_TIMEOUT_S. Return whether the engine ended and recorded everything."""
        try:
            async with asyncio.timeout(SHUTDOWN_TIMEOUT_S):
                await self._ended.wait()
        except TimeoutError:
            logger.warning("the engine did not close in time")
            return False
        return self.failure is None
