"""Who presses keys: waits until the app has nothing left to do, not until the process seems idle."""

import asyncio
import unicodedata

from textual import events
from textual.keys import REPLACED_KEYS, _character_to_key, _get_unicode_name_from_key
from textual.pilot import Pilot

_BETWEEN_KEYS_S = 0.02
"""Longer than what a test's app waits for another letter, and than a frame."""


class Hand(Pilot[None]):
    """Waits for what there is to do. Textual's pilot waits until the process looks idle, as it also does
    when others have the processor, for 60 ms a key. What threads and later timers do must be waited for."""

    async def press(self, *keys: str) -> None:
        """Press keys, one after another; what each does is done and drawn."""
        driver = self.app._driver
        assert driver is not None
        for key in keys:
            driver.send_message(self._event(key))
            await self.pause(_BETWEEN_KEYS_S)

    async def pause(self, delay: float | None = None) -> None:
        """Wait until nothing is left to do, `delay` seconds from now, and what is due is drawn."""
        await quiet()
        if delay is not None:
            await asyncio.sleep(delay)
            await quiet()
        self.app.screen._on_timer_update()
        await quiet()

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


async def quiet() -> None:
    """Wait until the event loop has nothing to run and has heard nothing new; timers may be set."""
    loop = asyncio.get_running_loop()
    heard_nothing = 0
    while heard_nothing < 2:
        await asyncio.sleep(0)
        heard_nothing = 0 if loop._ready else heard_nothing + 1  # type: ignore[attr-defined]
