"""System clipboard. Accessed in a thread. Some systems have no clipboard program."""

import asyncio
import logging
from collections.abc import Callable
from typing import Protocol

from kimi_tui.i18n.translate import tr, tr_n

logger = logging.getLogger(__name__)

_TIMEOUT_S = 3.0


class Clipboard(Protocol):
    """A clipboard to copy to and paste from."""

    async def copy(self, text: str) -> bool:
        """Copy `text`. Return whether a clipboard program confirmed the copy."""
        ...

    async def paste(self) -> str | None:
        """Return the clipboard's text, or None if it can't be read."""
        ...

    async def paste_image(self) -> bytes | None:
        """Return the clipboard's image as an image file, or None if it has no image."""
        ...


class SystemClipboard:
    """The platform's clipboard, through the programs that pyperclip supports."""

    async def copy(self, text: str) -> bool:
        """Copy `text`. Return False if no program is available."""
        try:
            await asyncio.wait_for(asyncio.to_thread(_write, text), _TIMEOUT_S)
        except (TimeoutError, RuntimeError, OSError) as error:
            logger.info("Can't write the clipboard: %s", error)
            return False
        return True

    async def paste(self) -> str | None:
        """Return the clipboard's text, or None if it can't be read."""
        try:
            return await asyncio.wait_for(asyncio.to_thread(_read), _TIMEOUT_S)
        except (TimeoutError, RuntimeError, OSError) as error:
            logger.info("Can't read the clipboard: %s", error)
            return None

    async def paste_image(self) -> bytes | None:
        """Return the clipboard's image as an image file, or None if it has no image or can't be read."""
        from kimi_tui.frontend.clipboard_image import grab_clipboard_image

        try:
            return await asyncio.wait_for(asyncio.to_thread(grab_clipboard_image), _TIMEOUT_S)
        except (TimeoutError, RuntimeError, OSError) as error:
            logger.info("Can't read the clipboard's image: %s", error)
            return None


async def copy_and_report(text: str, *, clipboard: Clipboard, copy_to_terminal: Callable[[str], None]) -> str:
    """Copy `text` through both the terminal and the system. Return a message about the result.

    A terminal may silently ignore the escape sequence (OSC 52). Over SSH, the system clipboard is on the
    remote machine. So `text` goes to both.
    """
    copy_to_terminal(text)
    amount = tr_n("{count} character", "{count} characters", len(text))
    if await clipboard.copy(text):
        return tr("Copied {amount}.", amount=amount)
    return tr(
        "Sent {amount} to the terminal's clipboard (OSC 52). No clipboard program found to verify it.",
        amount=amount,
    )


def _write(text: str) -> None:
    import pyperclip  # type: ignore[import-untyped]  # imported here because it is rarely needed

    pyperclip.copy(text)


def _read() -> str:
    import pyperclip

    return str(pyperclip.paste())
