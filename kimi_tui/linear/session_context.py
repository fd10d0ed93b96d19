"""Command context of a session: its state, the prompt and the terminal."""

import base64
import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.terminal_text import sanitize
from kimi_tui.frontend.clipboard import SystemClipboard, copy_and_report
from kimi_tui.frontend.external_editor import edit_text_within
from kimi_tui.frontend.running_session_service import RunningSessionService
from kimi_tui.frontend.session_controller import SessionController
from kimi_tui.frontend.session_state import SessionViewState
from kimi_tui.frontend.terminal_notifier import TerminalNotifier
from kimi_tui.i18n.translate import tr, translate_message
from kimi_tui.linear.command_context import SessionSwitch
from kimi_tui.linear.draft import UnsentInput
from kimi_tui.linear.engine_client import EngineClient
from kimi_tui.linear.line_input import LineInput
from kimi_tui.linear.output import LineOutput
from kimi_tui.linear.prompt_images import PromptImages
from kimi_tui.wire.commands import Command


class SessionCommandContext:
    """Implements `CommandContext` for one session."""

    def __init__(
        self,
        *,
        work_dir: Path,
        config_file: Path | None,
        running_sessions: RunningSessionService | None,
        lines: LineInput,
        output: LineOutput,
        session: SessionController,
        client: EngineClient,
        unsent: UnsentInput,
        images: PromptImages,
        notifier: TerminalNotifier,
    ) -> None:
        self.work_dir = work_dir
        self.config_file = config_file
        self.running_sessions = running_sessions
        self._lines = lines
        self._output = output
        self._session = session
        self._client = client
        self._unsent = unsent
        self._images = images
        self._notifier = notifier
        self.session_switch: SessionSwitch | None = None
        """The session to open after this session. None to exit."""

    @property
    def state(self) -> SessionViewState:
        """Current state of the session."""
        return self._session.state

    @property
    def results(self) -> Sequence[tuple[str, str]]:
        """Summaries and outputs of the latest tool calls, newest last."""
        return self._client.printer.results

    @property
    def last_response(self) -> str:
        """The latest response, or an empty string."""
        return self._client.printer.last_response

    def write_line(self, text: str) -> None:
        """Print `text`."""
        self._output.write_line(sanitize(text))

    async def ask(self, prompt: str, prefill: str = "") -> str | None:
        """Prompt for a line that starts with `prefill`. Return None at the end of the input."""
        await self._client.wait_until_printed()
        self._output.end_line()
        line = await self._lines.ask(prompt, prefill)
        self._notifier.record_key()
        return line

    async def edit(self, text: str, name: str) -> str | None:
        """Let the user edit `text` in their editor. Return the new text, or None if it is unchanged."""
        try:
            edited = await edit_text_within(contextlib.nullcontext(), text, name=name)
        except KimiTuiError as error:
            self.write_line(f"{translate_message(error.what)} {translate_message(error.hint)}")
            return None
        if edited.rstrip("\n") == text.rstrip("\n"):
            self.write_line(tr("Nothing changed."))
            return None
        return edited

    def command(self, command: Command) -> None:
        """Send `command` without waiting for it. Its results are printed when they arrive."""
        self._client.command(command)

    async def command_and_wait(self, command: Command) -> bool:
        """Send `command`, wait for it and print its results. Return False if it reported an error.

        Raises WireClosed.
        """
        return await self._client.command_and_wait(command)

    async def wait_until(self, condition: Callable[[], bool]) -> None:
        """Wait until `condition` holds, the session closes or a timeout expires."""
        await self._client.wait_until(condition)

    def show_transcript(self) -> None:
        """Print the conversation from before this run."""
        self._client.replay.print_all()

    def attach_image(self, path: str) -> None:
        """Attach an image to the next prompt. Raises KimiTuiError."""
        token = self._images.attach(path)
        self.write_line(tr("Attached to the next prompt: {token}", token=token))

    def queue_prompt(self, text: str) -> None:
        """Send `text` as the next prompt."""
        self.write_line(text)
        self._unsent.queued_prompts.appendleft(text)

    async def copy(self, text: str) -> None:
        """Copy `text` to the clipboard and report it."""

        def write_clipboard_sequence(copied_text: str) -> None:
            self._lines.write(f"\x1b]52;c;{base64.b64encode(copied_text.encode()).decode()}\a")

        self.write_line(
            await copy_and_report(
                text, clipboard=SystemClipboard(), copy_to_terminal=write_clipboard_sequence
            )
        )

    def leave(self, switch: SessionSwitch | None = None) -> None:
        """Exit, or open another session."""
        self.session_switch = switch
        self._client.close()
        self._session.shut_down()
