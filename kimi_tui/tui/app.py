"""The app: themes, keys, the life of the engine behind the wire, and an orderly end."""

import asyncio
import os
from collections.abc import Callable, Coroutine, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, cast

from rich.console import RenderableType
from textual import events, on, work
from textual._xterm_parser import XTermParser
from textual.actions import ActionParseResult
from textual.app import App
from textual.css.query import NoMatches
from textual.dom import DOMNode
from textual.driver import Driver
from textual.reactive import Reactive
from textual.screen import Screen
from textual.worker import WorkerFailed

from kimi_tui.base.assets import asset_path
from kimi_tui.base.errors import KimiTuiError, SessionInUse
from kimi_tui.base.terminal import plain
from kimi_tui.language.errors import told
from kimi_tui.language.saying import retell, say
from kimi_tui.tui.attention import Attention, way_for
from kimi_tui.tui.brush import Placed
from kimi_tui.tui.engine_run import EngineRun
from kimi_tui.tui.key_sequences import teach_key_sequences
from kimi_tui.tui.keys import APP_KEYS, KeyNames, bindings, complaints, known_ids
from kimi_tui.tui.keys_first import KeysFirst, hasten
from kimi_tui.tui.options import TuiOptions
from kimi_tui.tui.screen import Furnished, MainScreen
from kimi_tui.tui.scrollback import OrdinaryScreenFile, PrintWanted, Scrollback, TurnShown
from kimi_tui.tui.session_wish import SessionWanted
from kimi_tui.tui.terminal_background import asked_background
from kimi_tui.tui.terminal_frames import Frames
from kimi_tui.tui.terminal_input import InputDriver, sleep_until_input
from kimi_tui.tui.terminal_link import TerminalFile, send_between_frames
from kimi_tui.tui.themes import THEMES, resolved_theme
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.commands import Shutdown

STYLES = ("screen", "prompt")


class KimiTuiApp(App[None], inherit_bindings=False):
    """The full-screen app over one wire."""

    TITLE = "kimi-tui"
    BINDINGS = bindings(APP_KEYS)
    ENABLE_COMMAND_PALETTE = False
    NOTIFICATION_TIMEOUT = 4

    app_focus = Reactive(True, compute=False, repaint=False)

    def __init__(
        self,
        *,
        wire: Wire,
        start: Callable[[], Coroutine[Any, Any, None]],
        options: TuiOptions,
    ) -> None:
        super().__init__(css_path=[asset_path("styles", f"{name}.tcss") for name in STYLES])
        self._engine = EngineRun(wire, start)
        self._options = options
        self._main: MainScreen | None = None
        self._defect: Exception | None = None
        self._leaving = False
        self._frames = Frames(self, is_inline=options.inline)
        self.keys_first = KeysFirst()
        self._typed_early = ""
        """What was typed before there was somebody to type to."""
        self._attention = Attention(
            way=way_for(options.notify),
            send=partial(send_between_frames, self),
            clock=options.clock,
            in_tmux="TMUX" in os.environ,
        )
        self._scrollback = Scrollback(self, is_inline=options.inline, forget=self._frames.forget)
        self.farewell: list[str] = []
        """What is to be left on the terminal when the app has gone, as lines."""
        teach_key_sequences()
        for theme in THEMES:
            self.register_theme(theme)
        self._begin_with(resolved_theme(options.theme))
        if options.reduced_motion:
            self.animation_level = "none"

    def _begin_with(self, theme: str) -> None:
        # Without the reactive's watcher, which would parse every style a second time.
        self.set_reactive(App.theme, theme)
        self.stylesheet.set_variables(self.get_css_variables())

    async def run_async(self, *, headless: bool = False, **options: Any) -> Any:
        """Run on the terminal; the theme `auto` asks it for its background first."""
        if self._options.theme == "auto" and not headless:
            luminance, self._typed_early = asked_background()
            self._begin_with(resolved_theme("auto", luminance=luminance))
        return await super().run_async(headless=headless, **options)

    def get_default_screen(self) -> Screen[Any]:
        """The one screen; everything else is a dialog over it."""
        self._main = MainScreen(wire=self._engine.wire, options=self._options, attention=self._attention)
        return self._main

    def on_mount(self) -> None:
        """Take the user's keys."""
        self.set_keymap({key: keys for key, keys in self._options.keymap.items() if key in known_ids()})

        self.app_suspend_signal.subscribe(self, self._lent_terminal, immediate=True)
        self.app_resume_signal.subscribe(self, self._has_terminal_again, immediate=True)

    def _lent_terminal(self, _: App[Any]) -> None:
        self._frames.forget()

    def _has_terminal_again(self, _: App[Any]) -> None:
        self._frames.forget()
        self.screen.refresh()  # after a SIGTSTP nothing else asks for all of it

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        """Send a frame."""
        if not self._frames.show(renderable):
            super()._display(screen, renderable)

    def paint(self, placed: Iterable[Placed]) -> bool:
        """Put strips on the terminal, past the compositor; False while that can't be done."""
        return self._frames.paint(placed)

    async def run_action(
        self,
        action: "str | ActionParseResult",
        default_namespace: DOMNode | None = None,
        namespaces: Mapping[str, DOMNode] | None = None,
    ) -> bool:
        """Run an action: a key that had it done is answered then."""
        try:
            return await super().run_action(action, default_namespace, namespaces)
        finally:
            self.keys_first.answered()

    def _build_driver(
        self, headless: bool, inline: bool, mouse: bool, size: tuple[int, int] | None
    ) -> Driver:
        driver = super()._build_driver(headless, inline, mouse, size)
        if file := getattr(driver, "_file", None):
            loop = asyncio.get_running_loop()
            terminal = OrdinaryScreenFile(file) if self._options.inline else file
            gone = partial(loop.call_soon_threadsafe, self.lose_terminal)
            driver._file = TerminalFile(terminal, gone)  # type: ignore[attr-defined]
            sleep_until_input(cast("InputDriver", driver), gone)
            hasten(driver, self, self.keys_first)
        return driver

    @on(TurnShown)
    @work(group="scrollback")
    async def _turn_shown(self, event: TurnShown) -> None:
        await self._scrollback.add_turn(event.transcript)

    @on(PrintWanted)
    def _print_transcript(self) -> None:
        if self._main is not None and (transcript := self._main.transcript) is not None:
            try:
                self._scrollback.add_all(transcript)
            except KimiTuiError as error:
                self.notify(plain(told(error)), severity="error", markup=False)

    def _watch_app_focus(self, focus: bool) -> None:
        """Take the focus from the widget that has it, or give it back: only that one looks different then."""
        if not focus:
            self._last_focused_on_app_blur = self.screen.focused
            self.screen.set_focus(None)
            return
        widget, self._last_focused_on_app_blur = self._last_focused_on_app_blur, None
        if widget is not None and widget in self.screen.focus_chain and self.screen.focused is None:
            self.screen.set_focus(widget, scroll_visible=False, from_app_focus=True)
        else:
            self.screen._update_auto_focus()  # a screen that came while nobody looked was given no focus

    def lose_terminal(self) -> None:
        """Nobody can see or say anything any more: save and end."""
        if not self._leaving:
            self.action_leave()

    def on_ready(self) -> None:
        """Hand on what was typed before anybody was there; say what is wrong with the key map."""
        for event in XTermParser().feed(self._typed_early):
            self.post_message(event)
        for complaint in complaints(self._options.keymap):
            self.notify(plain(retell(complaint)), severity="warning", timeout=10, markup=False)

    @on(Furnished)
    def _furnished(self) -> None:
        self._serve()

    @work(group="engine")
    async def _serve(self) -> None:
        engine = self._engine
        await engine.serve()
        if engine.failure is None or engine is not self._engine:
            return
        if self._main is not None:
            self._main.show_failure(engine.failure)
        if isinstance(engine.failure, SessionInUse):
            self._offer_ways_on(engine.failure)

    @work(group="offer", exclusive=True)
    async def _offer_ways_on(self, error: SessionInUse) -> None:
        if self._options.reopen is None:
            return
        from kimi_tui.tui.dialogs.picker import Picker  # after the first frame
        from kimi_tui.tui.session_in_use import offer_ways_on

        names = KeyNames(self._options.keymap)
        await offer_ways_on(
            error,
            choose=lambda title, choices: self.push_screen_wait(Picker(title, choices, names=names)),
            open_session=lambda wish: self.post_message(SessionWanted(wish)),
            leave=self.action_leave,
        )

    @on(SessionWanted)
    @work(group="session", exclusive=True)
    async def _change_session(self, event: SessionWanted) -> None:
        reopen, old = self._options.reopen, self._main
        if reopen is None or old is None:
            self.notify(say("Another session can't be opened here."), severity="warning", markup=False)
            return
        if not self._engine.has_ended:
            old.close_session()
            await self._engine_has_ended(old)
        wish, wire = event.wish, Wire()
        self._engine = EngineRun(wire, partial(reopen, wish, wire))
        work_dir = wish.work_dir or self._options.work_dir
        self._options = replace(self._options, work_dir=work_dir, initial_prompt="")
        self._main = MainScreen(wire=wire, options=self._options, attention=self._attention)
        if not old._result_callbacks:  # the default screen has none, and Textual pops one when it goes
            old._push_result_callback(self, None)
        draft = old.prompt.unsent  # with what was typed while the old session closed
        await self.switch_screen(self._main)
        self._main.prompt.restore(draft)

    @property
    def defect(self) -> Exception | None:
        """What ended the app, when that was an error of ours."""
        return self._defect

    def _handle_exception(self, error: Exception) -> None:
        if self._defect is None:
            inner = error.error if isinstance(error, WorkerFailed) else error
            self._defect = inner if isinstance(inner, Exception) else error
            self._save_draft()
        super()._handle_exception(error)

    def _save_draft(self) -> None:
        with suppress(NoMatches):
            if self._main is not None:
                self._main.prompt.keeper.save_now()

    def _fatal_error(self) -> None:
        """End without Textual's traceback, which shows local variables; whoever runs the app tells of it."""
        self._close_messages_no_wait()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Over a dialog, its own keys come first."""
        if action in ("palette", "help"):
            return len(self.screen_stack) == 1
        return super().check_action(action, parameters)

    async def action_palette(self) -> None:
        """Open the command palette."""
        await self.run_action("screen.palette")

    async def action_help(self) -> None:
        """Open the help."""
        await self.run_action("screen.help")

    def action_leave(self) -> None:
        """Let the engine save and close, then end; a second time, end at once."""
        if self._leaving or self._engine.has_ended:
            self._end()
        else:
            self._leaving = True
            self._close_session()
            self._await_engine()

    @work(group="farewell")
    async def _await_engine(self) -> None:
        await self._engine_has_ended(self._main)
        self._end()

    def _close_session(self) -> None:
        if self._main is not None:
            self._main.close_session()
        else:
            self._engine.wire.command(Shutdown())

    async def _engine_has_ended(self, screen: MainScreen | None) -> None:
        """Wait for it, but not for ever."""
        if await self._engine.ended_in_order() and screen is not None:
            screen.engine_ended()

    async def on_event(self, event: events.Event) -> None:
        """Note that somebody is here as a key comes: what follows it may be that they look elsewhere."""
        if isinstance(event, events.Key | events.Paste) and not event.is_forwarded:
            self._attention.typed()
        await super().on_event(event)

    def on_app_focus(self) -> None:
        """The terminal is looked at again."""
        self._attention.focused(True)
        if self._main is not None:
            self._main.terminal_focused()

    def on_app_blur(self) -> None:
        """The user looks elsewhere."""
        self._attention.focused(False)

    def _end(self) -> None:
        self._save_draft()
        if self._options.keeps_transcript and self._main is not None and not self.is_headless:
            self.farewell = self._main.last_words()
        elif self._main is not None:
            self._main.forget_pictures()
        self.exit(return_code=1 if self._engine.failure is not None else 0)
