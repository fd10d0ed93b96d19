"""Submissions: where what the user submits goes, to a command or to the model."""

import asyncio
from collections.abc import Callable

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.language.errors import told
from kimi_tui.tui.furniture import Furniture
from kimi_tui.tui.prompt.prompt import Prompt
from kimi_tui.tui.state import ScreenState
from kimi_tui.tui.talk import Talk


class Submissions:
    """Takes what the prompt lets out. What can go nowhere stands in the prompt again."""

    def __init__(
        self, *, prompt: Prompt, talk: Talk, furniture: Furniture, state: Callable[[], ScreenState]
    ) -> None:
        self._prompt = prompt
        self._talk = talk
        self._furniture = furniture
        self._state = state
        self._sending = asyncio.Lock()

    async def take(self, submitted: Prompt.Submitted) -> None:
        """Run it when it is a command; else send it, one after another, in order."""
        if self._furniture.is_command(submitted.text):
            await self._run(submitted)
        elif self._state().read_only:
            self._prompt.give_back(submitted.draft)
            await self._furniture.run_line("/write")
        else:
            await self._send(submitted)

    async def _run(self, submitted: Prompt.Submitted) -> None:
        verdict = await self._furniture.run_line(submitted.text)
        if verdict == "send":
            await self._send(submitted)
        elif verdict == "edit":
            self._prompt.give_back(submitted.draft)
        else:
            self._prompt.remember(self._furniture.remembered(submitted.text), submitted.draft)

    async def _send(self, submitted: Prompt.Submitted) -> None:
        async with self._sending:
            if "@" in submitted.text and self._takes_pictures:
                try:
                    submitted.text = await self._prompt.attachments.with_pictures(submitted.text)
                except KimiTuiError as error:
                    self._prompt.give_back(submitted.draft)
                    self._furniture.say(told(error), severity="error")
                    return
            if self._talk.submit(submitted):
                self._furniture.workbench.transcript.follow()

    @property
    def _takes_pictures(self) -> bool:
        session = self._state().session
        return session is not None and "image_in" in session.capabilities
