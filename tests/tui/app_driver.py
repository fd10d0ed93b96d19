"""Pilot that presses keys and waits until the app has nothing left to do."""

import asyncio
import unicodedata

from textual import events
from textual.keys import REPLACED_KEYS, _character_to_key, _get_unicode_name_from_key
from textual.pilot import Pilot

_BETWEEN_KEYS_S = 0.02
"""Longer than the letter pause in tests, and than a frame."""


class AppDriver(Pilot[None]):
    """Waits for the app's pending work.

    Textual's pilot waits until the process looks idle, which also happens when other processes use the
    CPU, and takes 60 ms per key. The work of threads and later timers must be awaited separately.
    """

    async def press(self, *keys: str) -> None:
        """Press keys one at a time and wait until the result of each is drawn."""
        driver = self.app._driver
        assert driver is not None
        for key in keys:
            driver.send_message(self._event(key))
            await self.pause(_BETWEEN_KEYS_S)

    async def press_quickly(self, *keys: str) -> None:
        """Press all keys before the app handles the first, as a terminal does that sends them together."""
        driver = self.app._driver
        assert driver is not None
        for key in keys:
            driver.send_message(self._event(key))
        await self.pause(_BETWEEN_KEYS_S)

    async def pause(self, delay: float | None = None) -> None:
        """Wait until no work is left, `delay` seconds from now, and pending updates are drawn."""
        await wait_until_idle()
        if delay is not None:
            await asyncio.sleep(delay)
            await wait_until_idle()
        self.app.screen._on_timer_update()
        await wait_until_idle()

    def _event(self, key: str) -> events.Key:
        if len(key) == 1 and not key.isalnum():
            key = _character_to_key(key)
        try:
            character = unicodedata.lookup(_get_unicode_name_from_key(REPLACED_KEYS.get(key, key)))
        except KeyError:
            character = key if len(key) == 1 else None
        event = events.Key(key, character)
        event.set_sender(self.app)
        return event


async def wait_until_idle() -> None:
    """Wait until the event loop has nothing to run. Timers may still be set."""
    loop = asyncio.get_running_loop()
    idle_passes = 0
    while idle_passes < 2:
        await asyncio.sleep(0)
        idle_passes = 0 if loop._ready else idle_passes + 1  # type: ignore[attr-defined]
