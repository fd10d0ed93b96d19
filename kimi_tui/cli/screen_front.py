"""The app in front of an engine, on the process's own terminal."""

import asyncio
import os
import signal
import sys
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from kimi_tui import __version__
from kimi_tui.base.errors import UsageError
from kimi_tui.cli.combinations import check_combination
from kimi_tui.cli.command_line import CommandLine
from kimi_tui.cli.opening import Opening, read_config_for
from kimi_tui.cli.places import Places, is_new_share, places_of
from kimi_tui.cli.signals import stopping_signals
from kimi_tui.config.appearance import appearance_in
from kimi_tui.config.language import language_in
from kimi_tui.config.loading import user_config_path
from kimi_tui.config.project_mcp import untrusted_mcp
from kimi_tui.language.saying import speak
from kimi_tui.wire.channel import Wire

if TYPE_CHECKING:
    from kimi_tui.engine.options import EngineOptions
    from kimi_tui.tui.app import KimiTuiApp
    from kimi_tui.tui.options import TuiOptions
    from kimi_tui.tui.session_wish import SessionWish

SMALLEST = (40, 10)
"""Columns and lines below which nothing sensible can be shown."""
_THREAD_TURN_S = 0.001
"""How long a thread at work may keep a key waiting; the interpreter gives it five times as much."""
_AFTER_A_CRASH = "What was said and typed is kept: `kimi-tui --continue` goes on."
_WITHOUT = 'Without one, use print mode: kimi-tui -p "…".'


def run_screen_front(line: CommandLine) -> int:
    """Open the app and return the exit code. Raises KimiTuiError."""
    check_combination(line)
    check_is_terminal()
    share_is_new = is_new_share()
    places = places_of(line)
    if share_is_new and line.config_file is None:
        from kimi_tui.cli.questions import offer_import

        offer_import(places.share_dir)
    config = read_config_for(line, places)
    speak(language_in(config.data))
    is_linear = line.screen_reader or appearance_in(config.data).ui.screen_reader
    if not is_linear:
        check_can_be_drawn_on()
    if config.untrusted is not None:
        from kimi_tui.cli.questions import ask_for_trust

        if ask_for_trust(config.untrusted, places.share_dir, fault=config.fault):
            config = read_config_for(line, places)
    if not line.mcp_config_file:
        _look_at_project_servers(places)
    if line.session == "":
        from kimi_tui.cli.questions import ask_for_session

        line = replace(line, session=ask_for_session(places))
    opening = Opening(line=line, places=places, config=config, interactive=True)
    if is_linear:
        from kimi_tui.cli.linear_front import run_linear_front

        return run_linear_front(opening)
    return _run(opening)


def _look_at_project_servers(places: Places) -> None:
    """Ask about MCP servers that the project brings along, if there are some that nobody was asked about."""
    project = untrusted_mcp(places.work_dir, places.share_dir)
    if project is not None:
        from kimi_tui.cli.questions import ask_for_mcp_trust

        ask_for_mcp_trust(project, places.share_dir)


def check_is_terminal() -> None:
    """Raises UsageError when there is nobody to talk with."""
    for name, stream in (("input", sys.stdin), ("output", sys.stdout)):
        if stream is None or not stream.isatty():
            raise UsageError(f"kimi-tui needs a terminal, and standard {name} is none.", hint=_WITHOUT)


def check_can_be_drawn_on() -> None:
    """Raises UsageError when the app can't be shown."""
    if os.environ.get("TERM", "dumb") in ("dumb", "unknown", ""):
        raise UsageError(
            f"The terminal can't show a screen: TERM is “{os.environ.get('TERM', '')}”.",
            hint="Set TERM to what it is, such as xterm-256color, or talk line by line with --screen-reader.",
        )
    columns, lines = os.get_terminal_size(sys.stdout.fileno())
    if 0 < columns < SMALLEST[0] or 0 < lines < SMALLEST[1]:
        raise UsageError(
            f"The terminal is too small: {columns}x{lines}, and kimi-tui needs {SMALLEST[0]}x{SMALLEST[1]}.",
            hint=f"Make it larger; 100x30 is comfortable. {_WITHOUT}",
        )


def _run(opening: Opening) -> int:
    from kimi_tui.tui.app import KimiTuiApp
    from kimi_tui.tui.scrollback import write_lines

    sys.setswitchinterval(_THREAD_TURN_S)
    wire = Wire()
    options = _tui_options(opening)
    app = KimiTuiApp(
        wire=wire,
        start=partial(opening.serve, wire, adapt=_connectable, show_first=True),
        options=options,
    )
    signals = asyncio.run(_shown(app, mouse=options.mouse))
    write_lines(app.farewell)
    if app.defect is not None:
        from kimi_tui.cli.failures import tell_unexpected

        return tell_unexpected(app.defect, sys.argv[1:], then=_AFTER_A_CRASH)
    return 128 + signals[0] if signals else app.return_code or 0


def _tui_options(opening: Opening) -> "TuiOptions":
    from kimi_tui.tui.options import TuiOptions

    appearance = appearance_in(opening.config.data)
    inline = opening.line.inline or appearance.ui.inline
    return TuiOptions(
        work_dir=opening.places.work_dir,
        share_dir=opening.places.share_dir,
        theme=appearance.theme,
        keymap=appearance.keymap,
        mouse=appearance.ui.mouse and not inline,  # the wheel scrolls the terminal there
        inline=inline,
        keeps_transcript=inline or appearance.ui.keep_transcript,
        reduced_motion=appearance.ui.reduced_motion,
        images=appearance.ui.images,
        notify=appearance.ui.notify,
        reopen=partial(_reopen, opening),
        config_file=user_config_path(opening.places.share_dir),
        initial_prompt=opening.line.text,
        version=__version__,
    )


def _connectable(options: "EngineOptions") -> "EngineOptions":
    # Without the model that is asked for the app is of no use; without another one is connected there.
    return replace(options, may_lack_model=options.model is None)


async def _reopen(opening: Opening, wish: "SessionWish", wire: Wire) -> None:
    """Serve another session; the settings may have been changed meanwhile, by the app itself."""

    def adapted(options: "EngineOptions") -> "EngineOptions":
        return replace(
            _connectable(options),
            session_id=wish.session_id,
            continue_last=False,
            fork=wish.fork,
            read_only=wish.read_only,
            work_dir=wish.work_dir or options.work_dir,
            agent=wish.agent or options.agent,
            agent_file=None if wish.agent else options.agent_file,
        )

    config = await asyncio.to_thread(read_config_for, opening.line, opening.places)
    await replace(opening, config=config).serve(wire, adapt=adapted)


async def _shown(app: "KimiTuiApp", *, mouse: bool) -> list[int]:
    """Show the app until it ends; the signals that came."""
    from kimi_tui.tui.lent_terminal import is_lent

    signals: list[int] = []

    def stop(number: int) -> None:
        if number == signal.SIGINT and is_lent(app):
            return  # it was meant for the program that has the terminal
        signals.append(number)
        if number == signal.SIGHUP:
            app.lose_terminal()
        else:
            app.action_leave()

    with stopping_signals(stop):
        await app.run_async(mouse=mouse)
    return signals
