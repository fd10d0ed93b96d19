"""The clipboard of the system, reached in a thread; every way there may be missing."""

import asyncio
import logging
from collections.abc import Callable
from typing import Protocol

from kimi_tui.language.saying import say, say_many

logger = logging.getLogger(__name__)

_TIMEOUT_S = 3.0


class Clipboard(Protocol):
    """Somewhere to copy to and paste from."""

    async def copy(self, text: str) -> bool:
        """Put `text` there; whether that is known to have worked."""
        ...

    async def paste(self) -> str | None:
        """What is there; None when it can't be read."""
        ...

    async def paste_picture(self) -> bytes | None:
        """The picture that is there, as a file of some format; None when there is none."""
        ...


class SystemClipboard:
    """The platform's clipboard, through the programs that pyperclip knows."""

    async def copy(self, text: str) -> bool:
        """Put `text` there; False when no program could."""
        try:
            await asyncio.wait_for(asyncio.to_thread(_write, text), _TIMEOUT_S)
        except (TimeoutError, RuntimeError, OSError) as error:
            logger.info("The clipboard can't be written: %s", error)
            return False
        return True

    async def paste(self) -> str | None:
        """What is there; None when no program could tell."""
        try:
            return await asyncio.wait_for(asyncio.to_thread(_read), _TIMEOUT_S)
        except (TimeoutError, RuntimeError, OSError) as error:
            logger.info("The clipboard can't be read: %s", error)
            return None

    async def paste_picture(self) -> bytes | None:
        """The picture that is there; None when there is none, or no program that could tell."""
        from kimi_tui.tui.images.clipboard import grabbed

        try:
            return await asyncio.wait_for(asyncio.to_thread(grabbed), _TIMEOUT_S)
        except (TimeoutError, RuntimeError, OSError) as error:
            logger.info("The clipboard's picture can't be read: %s", error)
            return None


async def copied(text: str, *, clipboard: Clipboard, through_terminal: Callable[[str], None]) -> str:
    """Put `text` on the clipboard every way there is; a sentence that says what was done.

    Both ways are taken, since a terminal may ignore the escape sequence (OSC 52) silently, and since over SSH
    the platform's clipboard is the wrong one.
    """
    through_terminal(text)
    amount = say_many("{count} character", "{count} characters", len(text))
    if await clipboard.copy(text):
        return say("Copied {amount}.", amount=amount)
    return say(
        "Asked the terminal to copy {amount} (OSC 52); there is no clipboard program that would make sure.",
        amount=amount,
    )


def _write(text: str) -> None:
    import pyperclip  # type: ignore[import-untyped]  # here, since it is rarely needed

    pyperclip.copy(text)


def _read() -> str:
    import pyperclip

    return str(pyperclip.paste())
