"""Textual app: themes, key bindings, the engine's lifetime and shutdown."""

import os
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from textual import events, on, work
from textual.app import App
from textual.css.query import NoMatches
from textual.screen import Screen

from kimi_tui.base.assets import asset_path
from kimi_tui.base.errors import EngineLost, KimiTuiError, SessionInUse
from kimi_tui.base.terminal_text import sanitize
from kimi_tui.frontend.engine_runner import EngineRunner
from kimi_tui.frontend.terminal_notifier import TerminalNotifier, detect_method
from kimi_tui.i18n.translate import tr, translate_error, translate_message
from kimi_tui.tui.keys.keymap import APP_KEYS, bindings, keymap_errors, known_binding_ids
from kimi_tui.tui.options import TuiOptions
from kimi_tui.tui.screen.front_end import ScreenReady
from kimi_tui.tui.screen.main_screen import MainScreen
from kimi_tui.tui.session_request import SessionRequest, SessionRequested
from kimi_tui.tui.terminal.extra_sequences import register_key_sequences
from kimi_tui.tui.terminal.output import SequenceSender
from kimi_tui.tui.terminal.scrollback import PrintRequested, Scrollback, TurnCompleted
from kimi_tui.tui.terminal.terminal_app import TerminalApp
from kimi_tui.tui.themes import OWN_THEMES, register_theme, resolve_theme
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.commands import Shutdown

STYLES = ("screen", "prompt")
_ALERT_S = 8
"""Seconds for which a notification about another session is visible."""
_MAX_RECONNECTS = 3
"""Maximum number of reconnects to the resident engine without a key press in between."""


class KimiTuiApp(TerminalApp, inherit_bindings=False):
    """Full-screen app for one wire."""

    TITLE = "kimi-tui"
    BINDINGS = bindings(APP_KEYS)
    ENABLE_COMMAND_PALETTE = False
    NOTIFICATION_TIMEOUT = 4

    def __init__(
        self,
        *,
        wire: Wire,
        start: Callable[[], Coroutine[Any, Any, None]],
        options: TuiOptions,
    ) -> None:
        super().__init__(
            is_inline=options.inline, css_path=[asset_path("styles", f"{name}.tcss") for name in STYLES]
        )
        self._engine = EngineRunner(wire, start)
        self._options = options
        self._start_dir = options.work_dir
        self._main: MainScreen | None = None
        self._is_leaving = False
        self._reconnects = 0
        self._notifier = TerminalNotifier(
            method=detect_method(options.notify),
            terminal=SequenceSender(self),
            clock=options.clock,
            in_tmux="TMUX" in os.environ,
        )
        self._scrollback = Scrollback(self, is_inline=options.inline, frame_writer=self.frame_writer)
        self.exit_lines: list[str] = []
        """Lines to print on the terminal after the app has exited."""
        self._exit_summary = ""
        """Line with the command that resumes the session, built before background tasks were stopped."""
        register_key_sequences()
        for theme in OWN_THEMES:
            self.register_theme(theme)
        self._theme_error = ""
        """Error in the user's theme. Empty if the theme is valid."""
        self._apply_initial_theme(resolve_theme(options.theme, luminance=options.background.luminance))
        if options.reduced_motion:
            self.animation_level = "none"

    def _apply_initial_theme(self, theme: str) -> None:
        try:
            register_theme(self, theme, self._options.data_dir)
        except KimiTuiError as error:
            self._theme_error, theme = translate_error(error), resolve_theme("auto")
        # Without the reactive's watcher, which would parse every style a second time.
        self.set_reactive(App.theme, theme)
        self.stylesheet.set_variables(self.get_css_variables())

    def get_default_screen(self) -> Screen[Any]:
        """Return the main screen; all other screens are dialogs above it."""
        self._main = MainScreen(wire=self._engine.wire, options=self._options, notifier=self._notifier)
        return self._main

    def on_mount(self) -> None:
        """Apply the user's keymap and subscribe to suspend and resume."""
        self.set_keymap(
            {key: keys for key, keys in self._options.keymap.items() if key in known_binding_ids()}
        )

        self.app_suspend_signal.subscribe(self, self._handle_suspend, immediate=True)
        self.app_resume_signal.subscribe(self, self._handle_resume, immediate=True)

    def _handle_suspend(self, _: App[Any]) -> None:
        self.frame_writer.invalidate()

    def _handle_resume(self, _: App[Any]) -> None:
        self.frame_writer.invalidate()
        self.screen.refresh()  # after a SIGTSTP nothing else redraws the whole screen

    @on(TurnCompleted)
    @work(group="scrollback")
    async def _handle_turn_completed(self, event: TurnCompleted) -> None:
        await self._scrollback.add_turn(event.transcript)

    @on(PrintRequested)
    def _print_transcript(self) -> None:
        if self._main is not None and (transcript := self._main.front_end.transcript) is not None:
            try:
                self._scrollback.add_all(transcript)
            except KimiTuiError as error:
                self.notify(sanitize(translate_error(error)), severity="error", markup=False)

    def handle_terminal_loss(self) -> None:
        """Save and exit: the terminal is gone."""
        if not self._is_leaving:
            self.action_leave()

    def on_ready(self) -> None:
        """Replay input typed before the app started and report errors in the theme and the keymap."""
        self.replay_input(self._options.early_input)
        if self._theme_error:
            self.notify(sanitize(self._theme_error), severity="warning", timeout=10, markup=False)
        for keymap_error in keymap_errors(self._options.keymap):
            self.notify(
                sanitize(translate_message(keymap_error)), severity="warning", timeout=10, markup=False
            )

    @on(ScreenReady)
    def _start_engine(self) -> None:
        self._serve()
        self._report_sessions()

    @work(group="alerts", exclusive=True)
    async def _report_sessions(self) -> None:
        """Report sessions that aren't on a screen and need the user or have ended their work."""
        service = self._options.running_sessions
        if service is None:
            return
        from kimi_tui.frontend.session_alerts import SessionAlerts  # imported after the first frame
        from kimi_tui.frontend.text.running_sessions import alert_of

        alerts = SessionAlerts()
        async for sessions in service.watch():
            current = self._main.session.state.session if self._main is not None else None
            current_id = current.session_id if current is not None else None
            for session in alerts.update(sessions, current_id=current_id):
                text = alert_of(session)
                self.notify(
                    text,
                    severity="information" if session.state == "done" else "warning",
                    timeout=_ALERT_S,
                    markup=False,
                )
                self._notifier.report(text)

    @work(group="engine")
    async def _serve(self) -> None:
        engine = self._engine
        await engine.serve()
        if engine.failure is None or engine is not self._engine:
            return
        if self._main is not None:
            self._main.front_end.show_failure(engine.failure)
        match engine.failure:
            case SessionInUse():
                self._offer_alternatives(engine.failure)
            case EngineLost(session_id=session_id) if session_id and self._reconnects < _MAX_RECONNECTS:
                self._reconnects += 1
                self.post_message(SessionRequested(SessionRequest(session_id=session_id)))
            case _:
                pass

    @work(group="offer", exclusive=True)
    async def _offer_alternatives(self, error: SessionInUse) -> None:
        if self._options.serve_session is None or self._main is None:
            return
        from kimi_tui.tui.dialogs.session_in_use import offer_alternatives  # imported after the first frame

        await offer_alternatives(error, self._main.front_end.controllers.host)

    @on(SessionRequested)
    @work(group="session", exclusive=True)
    async def _change_session(self, event: SessionRequested) -> None:
        reopen, old = self._options.serve_session, self._main
        if reopen is None or old is None:
            self.notify(tr("Can't open another session here."), severity="warning", markup=False)
            return
        if not self._engine.has_ended:
            old.session.shut_down()
            await self._wait_for_engine(old)
        request, wire = event.request, Wire()
        self._engine = EngineRunner(wire, partial(reopen, request, wire))
        same_dir = self._options.work_dir if request.session_id is not None else self._start_dir
        work_dir = request.work_dir or same_dir
        self._options = replace(
            self._options,
            work_dir=work_dir,
            choose_session=None,
            initial_prompt=self._options.initial_prompt if self._options.choose_session is not None else "",
            initial_checkpoint=request.checkpoint,
            fleet_visit=request.fleet_visit,
        )
        self._main = MainScreen(wire=wire, options=self._options, notifier=self._notifier)
        draft = old.prompt.unsent_draft  # includes text typed while the old session closed
        await self.replace_screen(old, self._main)
        self._main.prompt.restore(draft)

    def handle_internal_error(self) -> None:
        """Save the draft."""
        self._save_draft()

    def _save_draft(self) -> None:
        with suppress(NoMatches):
            if self._main is not None:
                self._main.prompt.autosave.save_now()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable the palette and help while a dialog is open, so that the dialog's own keys win."""
        if action in ("palette", "help"):
            return len(self.screen_stack) == 1
        return super().check_action(action, parameters)

    async def action_palette(self) -> None:
        """Open the command palette."""
        await self.run_action("screen.palette")

    async def action_help(self) -> None:
        """Open the help screen."""
        await self.run_action("screen.command('help')")

    def action_leave(self) -> None:
        """Let the engine save and close, then exit. If called again, exit immediately."""
        if self._is_leaving or self._engine.has_ended:
            self._exit_app()
        else:
            self._is_leaving = True
            self._close_session()
            self._exit_after_engine()

    @work(group="exit")
    async def _exit_after_engine(self) -> None:
        await self._wait_for_engine(self._main)
        self._exit_app()

    def _close_session(self) -> None:
        if self._main is not None:
            from kimi_tui.frontend.text.exit_summary import exit_summary

            self._exit_summary = exit_summary(self._main.session.state)  # before its tasks are stopped
            self._main.session.shut_down()
        else:
            self._engine.wire.command(Shutdown())

    async def _wait_for_engine(self, screen: MainScreen | None) -> None:
        """Wait for the engine to end, up to a time limit."""
        if await self._engine.wait_for_clean_end() and screen is not None:
            screen.session.acknowledge_all()

    async def on_event(self, event: events.Event) -> None:
        """Record key presses: a focus event that follows may mean that the user switches away."""
        if isinstance(event, events.Key | events.Paste) and not event.is_forwarded:
            self._notifier.record_key()
            self._reconnects = 0
        await super().on_event(event)

    def on_app_focus(self) -> None:
        """Handle the terminal window gaining focus."""
        self._notifier.set_focus(True)
        if self._main is not None:
            self._main.front_end.handle_terminal_focus()

    def on_app_blur(self) -> None:
        """Handle the terminal window losing focus."""
        self._notifier.set_focus(False)

    def _exit_app(self) -> None:
        self._save_draft()
        if self._options.keep_transcript and self._main is not None and not self.is_headless:
            self.exit_lines = self._main.front_end.take_unprinted_lines()
        elif self._main is not None:
            self._main.front_end.clear_images()
        self.exit_lines += filter(None, [self._exit_summary])
        self.exit(return_code=1 if self._engine.failure is not None else 0)
