"""Routes submitted text to a command or to the model."""

import asyncio
from collections.abc import Callable

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.frontend.session_controller import SessionController
from kimi_tui.frontend.session_state import SessionViewState
from kimi_tui.i18n.translate import translate_error
from kimi_tui.tui.prompt.prompt import PromptBox
from kimi_tui.tui.screen.controllers import ScreenControllers


class SubmissionRouter:
    """Routes the prompt's submissions. Text that can't be sent returns to the prompt."""

    def __init__(
        self,
        *,
        prompt: PromptBox,
        session_controller: SessionController,
        controllers: ScreenControllers,
        state: Callable[[], SessionViewState],
    ) -> None:
        self._prompt = prompt
        self._session_controller = session_controller
        self._controllers = controllers
        self._state = state
        self._sending = asyncio.Lock()

    async def route(self, submitted: PromptBox.Submitted) -> None:
        """Run `submitted` if it is a command; otherwise send it. Prompts are sent one at a time, in order."""
        if self._controllers.is_command(submitted.text):
            await self._run_command(submitted)
        elif self._state().read_only:
            self._prompt.give_back(submitted.draft)
            await self._controllers.run_line("/write")
        else:
            await self._send(submitted)

    async def _run_command(self, submitted: PromptBox.Submitted) -> None:
        result = await self._controllers.run_line(submitted.text)
        if result == "send":
            await self._send(submitted)
        elif result == "edit":
            self._prompt.give_back(submitted.draft)
        else:
            self._prompt.remember(self._controllers.history_entry(submitted.text), submitted.draft)

    async def _send(self, submitted: PromptBox.Submitted) -> None:
        async with self._sending:
            if "@" in submitted.text and self._supports_images:
                try:
                    submitted.text = await self._prompt.attachments.add_image_tokens(submitted.text)
                except KimiTuiError as error:
                    self._prompt.give_back(submitted.draft)
                    self._controllers.notify(translate_error(error), severity="error")
                    return
            if self._session_controller.submit(submitted):
                self._controllers.session_view.transcript.scroll_to_end()

    @property
    def _supports_images(self) -> bool:
        session = self._state().session
        return session is not None and "image_in" in session.capabilities
