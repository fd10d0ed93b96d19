"""Linear mode: prints one line after another on the normal screen and prompts for input between turns.

Nothing is redrawn, moved or colored, and printed text never changes. Screen readers, braille displays and
dumb terminals get every word once and in order. Input is edited with readline.
"""

import asyncio
import contextlib
import os
import time
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

from kimi_tui.base.errors import KimiTuiError, SessionInUse
from kimi_tui.base.frozen import frozen
from kimi_tui.base.ids import new_id
from kimi_tui.base.terminal_text import sanitize_line
from kimi_tui.config.startup_settings import NotifyMode
from kimi_tui.frontend.double_press import DoublePress
from kimi_tui.frontend.drafts import Draft
from kimi_tui.frontend.input_history import InputHistory
from kimi_tui.frontend.message_batch import MessageBatch
from kimi_tui.frontend.parsed_command import ParsedCommand
from kimi_tui.frontend.running_session_service import RunningSessionService
from kimi_tui.frontend.session_alerts import SessionAlerts
from kimi_tui.frontend.session_controller import CommandResult, SessionController
from kimi_tui.frontend.session_state import SessionViewState
from kimi_tui.frontend.shell_line import ShellLine, parse_shell_line
from kimi_tui.frontend.terminal_notifier import TerminalNotifier, detect_method
from kimi_tui.frontend.text.exit_summary import exit_summary
from kimi_tui.frontend.text.running_sessions import alert_of
from kimi_tui.i18n.translate import tr, translate_error, translate_message
from kimi_tui.linear.command_context import SessionSwitch
from kimi_tui.linear.commands import COMMANDS_WHILE_BUSY, complete_command, may_leave, run_command
from kimi_tui.linear.draft import TypedInput, UnsentInput
from kimi_tui.linear.engine_client import EngineClient
from kimi_tui.linear.event_printer import EventPrinter
from kimi_tui.linear.line_input import LineInput
from kimi_tui.linear.output import LineOutput
from kimi_tui.linear.prompt_images import PromptImages
from kimi_tui.linear.requests import AnswerTooLate, RequestPrompter, ask_choice
from kimi_tui.linear.session_context import SessionCommandContext
from kimi_tui.wire.channel import Wire, WireClosed
from kimi_tui.wire.commands import RunShell

_DOUBLE_PRESS_S = 3.0
_SHUTDOWN_TIMEOUT_S = 5.0


@frozen(kw_only=True)
class LinearOptions:
    """Options of linear mode."""

    work_dir: Path
    data_dir: Path
    version: str
    config_file: Path | None = None
    prompts: tuple[str, ...] = ()
    """Prompts to send first, one after another."""
    notify: NotifyMode = "auto"
    running_sessions: RunningSessionService | None = None
    """The open sessions of this user. None if only one session can be opened."""
    clock: Callable[[], float] = time.monotonic


class LinearApp:
    """Runs one session in linear mode."""

    def __init__(self, *, wire: Wire, options: LinearOptions, lines: LineInput | None = None) -> None:
        self._lines = lines or LineInput()
        self._output = LineOutput(self._lines)
        self._notifier = notifier = TerminalNotifier(
            method=detect_method(options.notify),
            terminal=self._lines,
            clock=options.clock,
            in_tmux="TMUX" in os.environ,
            reports_focus=False,
        )
        self._images = images = PromptImages(options.work_dir)
        self._unsent = UnsentInput(
            data_dir=options.data_dir, work_dir=options.work_dir, lines=self._lines, images=images
        )
        self._unsent.queued_prompts.extend(options.prompts)
        self._session = SessionController(
            wire=wire,
            front_end=self,
            prompt=self._unsent,
            attachments=self._unsent,
            notifier=notifier,
            clock=options.clock,
        )
        self._client = EngineClient(
            wire=wire,
            session=self._session,
            unsent=self._unsent,
            output=self._output,
            printer=EventPrinter(self._output, clock=options.clock),
            version=options.version,
        )
        self._context = SessionCommandContext(
            work_dir=options.work_dir,
            config_file=options.config_file,
            running_sessions=options.running_sessions,
            lines=self._lines,
            output=self._output,
            session=self._session,
            client=self._client,
            unsent=self._unsent,
            images=images,
            notifier=notifier,
        )
        self._prompter = RequestPrompter(self._context)
        self._asked_id = ""
        """Id of the request that the user is answering. Empty if no request is being answered."""
        self._history = InputHistory(data_dir=options.data_dir, work_dir=options.work_dir)
        self._exit_press = DoublePress(within_s=_DOUBLE_PRESS_S, clock=options.clock)

    async def run(self, start: Callable[[], Coroutine[Any, Any, None]]) -> SessionSwitch | None:
        """Run the session. Return the session to open next, or None to exit.

        `start` serves the engine. Raises KimiTuiError.
        """
        self._history.load()
        self._lines.open(self._history.entries, self)
        if self._lines.is_editable:
            self._unsent.restore()
        self._client.subscribe()
        engine = asyncio.ensure_future(start())
        listener = asyncio.ensure_future(self._client.listen())
        prompt_loop = asyncio.ensure_future(self._run_prompt_loop())
        alerts = asyncio.ensure_future(self._report_sessions())
        try:
            await asyncio.wait([engine, prompt_loop], return_when=asyncio.FIRST_COMPLETED)
            if engine.done() and (error := engine.exception()) is not None:
                if not isinstance(error, SessionInUse):
                    raise error
                prompt_loop.cancel()
                return await self._offer_alternatives(error)
            summary = exit_summary(self.state)  # before its tasks are stopped
            self._client.is_leaving = self._context.session_switch is None
            self._session.shut_down()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_SHUTDOWN_TIMEOUT_S):
                    await asyncio.wait([engine])
                if engine.exception() is None:
                    self._session.acknowledge_all()
            if summary and self._context.session_switch is None:
                self._context.write_line(summary)
            return self._context.session_switch
        finally:
            self._unsent.save_now()
            tasks = (prompt_loop, engine, listener, alerts)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self._lines.close()

    async def _report_sessions(self) -> None:
        """Report sessions that aren't on a screen and need the user or have ended their work."""
        service, alerts = self._context.running_sessions, SessionAlerts()
        if service is None:
            return
        async for sessions in service.watch():
            current_id = self.state.session.session_id if self.state.session is not None else None
            for session in alerts.update(sessions, current_id=current_id):
                self._context.write_line(alert_of(session))
                self._notifier.report(alert_of(session))

    @property
    def state(self) -> SessionViewState:
        """Current state of the session."""
        return self._session.state

    @property
    def queued_prompts(self) -> tuple[str, ...]:
        """Prompts that were typed for the next session."""
        return tuple(self._unsent.queued_prompts)

    # prompts

    async def _run_prompt_loop(self) -> None:
        queue = self._unsent.queued_prompts
        while not self._client.is_closed:
            if (
                self.state.session is None
                or (self.state.is_busy and not self.state.requests)
                or self.state.shell_ids
            ):
                await self._wait_while_busy()
                continue
            queue += self._lines.read_pending_lines()
            if self.state.requests:
                await self._answer_request()
            else:
                text = queue.popleft() if queue else await self._read_prompt()
                if text is None:
                    if await may_leave(self._context):
                        return
                    continue
                if self.state.is_busy or self.state.requests:  # a turn began while the user was typing
                    queue.append(text)
                else:
                    await self._handle_input(text)

    async def _wait_while_busy(self) -> None:
        """Wait for a change. Run COMMANDS_WHILE_BUSY that the user has typed. Queue other lines."""
        with self._lines.watch(self._client.wake):
            await self._client.wait_for_change()
        for line in self._lines.read_pending_lines():
            if self.state.session is not None and line.strip() in COMMANDS_WHILE_BUSY:
                await self._handle_input(line.strip())
            else:
                self._unsent.queued_prompts.append(line)

    async def _read_prompt(self) -> str | None:
        session = self.state.session
        mode = tr(" (plan mode)") if session is not None and session.plan_mode else ""
        if restored := self._unsent.restored_text:
            self._context.write_line(
                tr("Your unsent draft was restored. Press enter to send it or ctrl+u to clear it.")
            )
            if "\n" in restored:
                self._context.write_line(restored)
        self._unsent.previous_lines = []
        line = await self._context.ask(tr("You{mode}: ", mode=mode), self._unsent.pop_restored())
        while line is not None and line.endswith("\\"):
            self._unsent.previous_lines.append(line[:-1])
            line = await self._context.ask(tr("more: "))
        lines, self._unsent.previous_lines = self._unsent.previous_lines, None
        if line is not None:
            lines.append(line)
        return "\n".join(lines) if lines else None

    async def _handle_input(self, text: str) -> None:
        if not text.strip() or self._client.is_closed:
            return
        self._add_to_history(text)
        try:
            if self._images.is_image_path(text):
                self._context.attach_image(text)
                return
            await self._session.submit(TypedInput(text, Draft(text), parse_shell_line(text, "agent")))
        except KimiTuiError as error:
            self.show_error(translate_error(error))
        except WireClosed:
            self._client.close()
        self._unsent.save_soon()

    def _add_to_history(self, text: str) -> None:
        self._lines.add_history(text)
        with contextlib.suppress(OSError):
            self._history.append(text)

    async def _answer_request(self) -> None:
        request, *others = self.state.requests
        self._asked_id = request.id
        try:
            answer = await self._prompter.answer(request, waiting_count=len(others))
        except AnswerTooLate as late:
            if late.prompt:
                self._unsent.queued_prompts.append(late.prompt)
            return
        finally:
            self._asked_id = ""
        if answer is None:
            self.leave()
        else:
            self._client.answer(answer)

    async def _offer_alternatives(self, error: SessionInUse) -> SessionSwitch | None:
        options = [
            ("read", tr("open read-only and follow the other process")),
            ("copy", tr("fork the session")),
            ("new", tr("start a new session")),
        ]
        match await ask_choice(self._context, translate_message(error.what), options):
            case "read":
                return SessionSwitch(error.session_id, read_only=True)
            case "copy":
                return SessionSwitch(error.session_id, fork=True)
            case "new":
                return SessionSwitch()
            case _:
                return None

    # the session

    def show_state(self, state: SessionViewState) -> None:
        """Save prompts that the engine hasn't recorded yet. Report that the current request was closed."""
        self._unsent.set_state(state)
        if self._asked_id and all(request.id != self._asked_id for request in state.requests):
            self._asked_id = ""
            self._context.write_line(tr("The request was closed. Type a prompt, or press enter."))

    def show_batch(self, batch: MessageBatch) -> None:
        """Print messages."""
        self._client.print_batch(batch)

    def show_error(self, message: str) -> None:
        """Print an error."""
        self._context.write_line(tr("Error: {what}", what=sanitize_line(message)))

    async def run_command(self, command: ParsedCommand) -> CommandResult:
        """Run a slash command. Raises KimiTuiError and WireClosed."""
        self._unsent.save_soon()
        await run_command(self._context, command.name, command.argument)
        return "done"

    async def run_in_shell(self, line: ShellLine) -> None:
        """Run a command in the user's shell and wait for it. Raises WireClosed."""
        self._unsent.save_soon()
        await self._context.command_and_wait(RunShell(new_id(), line.command, on_terminal=line.on_terminal))

    async def offer_writing(self) -> None:
        """Print how to continue a read-only session."""
        self._context.write_line(tr("This session is read-only. Use /write to continue it."))

    # the line being typed

    def complete_line(self, prefix: str) -> Sequence[str]:
        """Return the commands that start with `prefix`."""
        return complete_command(self._context, prefix)

    def handle_line_change(self) -> None:
        """Save the draft."""
        self._unsent.save_soon()

    # signals

    def leave(self) -> None:
        """Save and exit."""
        self._context.leave()

    def interrupt(self) -> None:
        """Handle ctrl+c: stop running work. If nothing is running, exit at the second press."""
        if self._client.interrupt():
            return
        if self._exit_press.press():
            self.leave()
        else:
            self._context.write_line(tr("Press ctrl+c again to quit. ctrl+u clears the line."))
