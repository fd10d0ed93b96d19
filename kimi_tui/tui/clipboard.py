"""The clipboard of the system, reached in a thread; every way there may be missing."""

import asyncio
import logging
from collections.abc import Callable

logger = logging.getLogger(__name__)

_TIMEOUT_S = 3.0


async def copied(text: str, *, through_terminal: Callable[[str], None]) -> str:
    """Put `text` on the clipboard every way there is; a sentence that says what was done.

    The platform's clipboard comes first, since a terminal may ignore the escape sequence (OSC 52) silently.
    """
    through_terminal(text)
    amount = f"{len(text)} characters" if len(text) != 1 else "1 character"
    if await _platform_copy(text):
        return f"Copied {amount}."
    return f"Asked the terminal to copy {amount} (OSC 52); no clipboard program was found to do it for sure."


async def pasted() -> str | None:
    """What the clipboard holds; None when it can't be read."""
    try:
        return await asyncio.wait_for(asyncio.to_thread(_read), _TIMEOUT_S)
    except (TimeoutError, RuntimeError, OSError) as error:
        logger.info("The clipboard can't be read: %s", error)
        return None


async def _platform_copy(text: str) -> bool:
    try:
        await asyncio.wait_for(asyncio.to_thread(_write, text), _TIMEOUT_S)
    except (TimeoutError, RuntimeError, OSError) as error:
        logger.info("The clipboard can't be written: %s", error)
        return False
    return True


def _write(text: str) -> None:
    import pyperclip  # type: ignore[import-untyped]  # here, since it is rarely needed

    pyperclip.copy(text)


def _read() -> str:
    import pyperclip

    return str(pyperclip.paste())
