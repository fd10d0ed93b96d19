"""The app on the process's terminal."""

import asyncio
import os
import signal
import sys
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from kimi_tui.base.errors import UsageError
from kimi_tui.base.message_text import msg
from kimi_tui.cli.bootstrap import EngineSetup, allow_missing_model, read_config_for
from kimi_tui.cli.option_conflicts import check_conflicts
from kimi_tui.cli.options import CliOptions
from kimi_tui.cli.run_paths import RunPaths, is_new_data_dir, resolve_paths
from kimi_tui.cli.serve_here_or_resident import serve_here_or_resident
from kimi_tui.cli.signals import stopping_signals
from kimi_tui.config.language_setting import language_setting
from kimi_tui.config.loader import user_config_path
from kimi_tui.config.project_files import ProjectFileKind, raw_skill_dirs
from kimi_tui.config.project_trust import ProjectTrust
from kimi_tui.config.raw_config import RawConfig
from kimi_tui.config.startup_settings import startup_settings
from kimi_tui.i18n.translate import set_language
from kimi_tui.version import __version__
from kimi_tui.wire.channel import Wire

if TYPE_CHECKING:
    from kimi_tui.engine.options import EngineOptions
    from kimi_tui.frontend.fleet.opened_task import OpenedTask
    from kimi_tui.tui.app import KimiTuiApp
    from kimi_tui.tui.options import TuiOptions
    from kimi_tui.tui.session_request import SessionRequest

MIN_SIZE = (40, 10)
"""Smallest usable terminal, in columns and lines."""
_SWITCH_INTERVAL_S = 0.001
"""Thread switch interval. Shorter than Python's 5 ms, so that busy threads don't delay keys."""
_CRASH_HINT = "Your session was saved. Run `kimi-tui --continue` to resume it."
_CONTINUE_HINT = msg(
    "With -c, kimi-tui resumes the last session and then sends the prompt. To run a prompt without a "
    'terminal, use kimi-tui -p "…".'
)
_NO_TERMINAL_HINT = msg('Without a terminal, use print mode: kimi-tui -p "…".')


def run_attached(cli_options: CliOptions, *, is_viewer: bool) -> int:
    """Open a session of the resident engine, in the app or line by line as the options and settings say.

    Return the exit code. Raises KimiTuiError.
    """
    check_is_terminal(cli_options)
    paths = resolve_paths(cli_options)
    config = read_config_for(cli_options, paths)
    set_language(language_setting(config.data))
    setup = EngineSetup(cli_options=cli_options, paths=paths, config=config, interactive=True)
    if cli_options.screen_reader or startup_settings(config.data).ui.screen_reader:
        from kimi_tui.cli.run_linear import run_linear_mode

        return run_linear_mode(setup, is_resident=True, is_viewer=is_viewer)
    check_terminal_usable()
    return _run(setup, is_resident=True, is_viewer=is_viewer)


def run_tui_mode(cli_options: CliOptions) -> int:
    """Open the app and return the exit code. Raises KimiTuiError."""
    check_conflicts(cli_options)
    check_is_terminal(cli_options)
    is_first_start = is_new_data_dir()
    paths = resolve_paths(cli_options)
    if is_first_start and cli_options.config_file is None:
        from kimi_tui.cli.startup_prompts import offer_import

        offer_import(paths.data_dir)
    config = read_config_for(cli_options, paths)
    set_language(language_setting(config.data))
    is_linear = cli_options.screen_reader or startup_settings(config.data).ui.screen_reader
    if not is_linear:
        check_terminal_usable()
    if _ask_about_project(config, cli_options, paths):
        config = read_config_for(cli_options, paths)
    if cli_options.session == "" and is_linear:
        from kimi_tui.cli.startup_prompts import ask_for_session

        cli_options = replace(cli_options, session=ask_for_session(paths))
    setup = EngineSetup(cli_options=cli_options, paths=paths, config=config, interactive=True)
    if isinstance(editor := config.data.get("default_editor"), str) and editor:
        os.environ["VISUAL"] = editor
    is_resident = cli_options.resident
    if is_resident is None:
        is_resident = startup_settings(config.data).is_resident and not cli_options.read_only
    if is_linear:
        from kimi_tui.cli.run_linear import run_linear_mode

        return run_linear_mode(setup, is_resident=is_resident)
    return _run(setup, is_resident=is_resident)


def _ask_about_project(config: RawConfig, cli_options: CliOptions, paths: RunPaths) -> bool:
    """Ask about the project's files that the user hasn't decided about. Return whether any became trusted."""
    reviewed = ProjectTrust(paths.data_dir).review(
        paths.work_dir, extra_skill_dirs=raw_skill_dirs(config.data)
    )
    used = [each for each in reviewed if not _is_replaced(each.file.kind, cli_options)]
    if not any(each.status in ("new", "changed") for each in used):
        return False
    from kimi_tui.cli.trust_question import ask_about_project

    return ask_about_project(used, work_dir=paths.work_dir, data_dir=paths.data_dir)


def _is_replaced(kind: ProjectFileKind, cli_options: CliOptions) -> bool:
    """Return whether an option replaces the project's files of this kind."""
    match kind:
        case "settings":
            return cli_options.config_file is not None
        case "mcp":
            return bool(cli_options.mcp_config_file)
        case "skill":
            return bool(cli_options.skills_dir)
        case "agent" | "command":
            return False


def check_is_terminal(cli_options: CliOptions) -> None:
    """Check that stdin and stdout are terminals. Raises UsageError."""
    hint = _CONTINUE_HINT if cli_options.continue_last and cli_options.argument else _NO_TERMINAL_HINT
    for name, stream in (("input", sys.stdin), ("output", sys.stdout)):
        if stream is None or not stream.isatty():
            raise UsageError(
                msg("kimi-tui needs a terminal, but standard {name} isn't one.", name=name),
                hint=hint,
            )


def check_terminal_usable() -> None:
    """Check the terminal's type and size. Raises UsageError."""
    if os.environ.get("TERM", "dumb") in ("dumb", "unknown", ""):
        raise UsageError(
            msg("This terminal can't display the app: TERM is “{term}”.", term=os.environ.get("TERM", "")),
            hint="Set TERM to the terminal's type, such as xterm-256color, or use --screen-reader.",
        )
    columns, lines = os.get_terminal_size(sys.stdout.fileno())
    if 0 < columns < MIN_SIZE[0] or 0 < lines < MIN_SIZE[1]:
        raise UsageError(
            msg(
                "The terminal is too small: {columns}x{lines}. kimi-tui needs {min_columns}x{min_lines}.",
                columns=columns,
                lines=lines,
                min_columns=MIN_SIZE[0],
                min_lines=MIN_SIZE[1],
            ),
            hint=msg("Make it larger, ideally 100x30. {alternative}", alternative=_NO_TERMINAL_HINT),
        )


def _run(setup: EngineSetup, *, is_resident: bool, is_viewer: bool = False) -> int:
    from kimi_tui.tui.terminal.background import BackgroundQuery, KnownBackground

    with BackgroundQuery() as query:  # the terminal answers during the imports
        from kimi_tui.tui.app import KimiTuiApp
        from kimi_tui.tui.terminal.scrollback import write_lines

        options = _tui_options(setup)
        luminance, early_input = query.read_reply()
    sys.setswitchinterval(_SWITCH_INTERVAL_S)
    wire = Wire()
    options = replace(
        options,
        background=KnownBackground(luminance),
        early_input=early_input,
        serve_session=partial(_open_other_session, setup, is_resident=is_resident, is_viewer=is_viewer),
    )
    if options.choose_session is not None:  # a new session is open while the user chooses
        cli_options = replace(setup.cli_options, session=None, fork=False, read_only=False)
        setup = replace(setup, cli_options=cli_options)
    app = KimiTuiApp(
        wire=wire,
        start=partial(_serve, setup, wire, is_resident=is_resident, is_viewer=is_viewer),
        options=options,
    )
    signals = asyncio.run(_run_app(app, mouse=options.mouse))
    write_lines(app.exit_lines)
    if app.internal_error is not None:
        from kimi_tui.cli.error_report import print_crash

        return print_crash(app.internal_error, sys.argv[1:], advice=_CRASH_HINT)
    return 128 + signals[0] if signals else app.return_code or 0


def _tui_options(setup: EngineSetup) -> "TuiOptions":
    from kimi_tui.cli.running_sessions import RunningSessions
    from kimi_tui.tui.options import TuiOptions

    startup = startup_settings(setup.config.data)
    inline = setup.cli_options.inline or startup.ui.inline
    return TuiOptions(
        work_dir=setup.paths.work_dir,
        data_dir=setup.paths.data_dir,
        theme=startup.theme,
        keymap=startup.keymap,
        mouse=startup.ui.mouse and not inline,  # inline, the mouse wheel scrolls the terminal
        inline=inline,
        keep_transcript=inline or startup.ui.keep_transcript,
        reduced_motion=startup.ui.reduced_motion,
        images=startup.ui.images,
        thinking=startup.ui.thinking,
        notify=startup.ui.notify,
        task_opener=_FleetTasks(),
        running_sessions=RunningSessions(setup.paths.data_dir),
        config_file=user_config_path(setup.paths.data_dir),
        choose_session=_session_to_choose(setup.cli_options),
        initial_prompt=setup.cli_options.text,
        version=__version__,
    )


class _FleetTasks:
    """Implements `FleetTaskOpener`."""

    def open_task(self, database: Path, task_id: str) -> "OpenedTask":
        """Return the session of a task."""
        from kimi_tui.fleet.fleet_database import FleetDatabase
        from kimi_tui.fleet.task_opener import open_task

        with closing(FleetDatabase(database)) as opened:
            return open_task(opened, task_id)


def _session_to_choose(cli_options: CliOptions) -> "SessionRequest | None":
    """Return how to open the session that the user chooses, or None if the options name one."""
    if cli_options.session != "":
        return None
    from kimi_tui.tui.session_request import SessionRequest

    return SessionRequest(fork=cli_options.fork, read_only=cli_options.read_only)


async def _serve(setup: EngineSetup, wire: Wire, *, is_resident: bool, is_viewer: bool) -> None:
    """Serve the first session, here or in the resident engine."""
    if is_resident:
        from kimi_tui.cli.resident_client import serve_resident

        await serve_resident(setup, wire, is_viewer=is_viewer)
    else:
        await serve_here_or_resident(setup, wire)


async def _open_other_session(
    setup: EngineSetup, selection: "SessionRequest", wire: Wire, *, is_resident: bool, is_viewer: bool
) -> None:
    """Serve another session. Reads the config again, since the app may have changed it."""
    cli_options = replace(
        setup.cli_options,
        session=selection.session_id,
        continue_last=False,
        fork=selection.fork,
        read_only=selection.read_only,
        agent=selection.agent or setup.cli_options.agent,
        agent_file=None if selection.agent else setup.cli_options.agent_file,
    )
    paths = replace(setup.paths, work_dir=selection.work_dir or setup.paths.work_dir)
    config = await asyncio.to_thread(read_config_for, setup.cli_options, setup.paths)
    setup = replace(setup, cli_options=cli_options, paths=paths, config=config)
    if selection.read_only or selection.data_dir is not None:

        def adapt(options: "EngineOptions") -> "EngineOptions":
            return replace(allow_missing_model(options), data_dir=selection.data_dir or options.data_dir)

        await setup.serve(wire, adapt=adapt)
    else:
        await _serve(setup, wire, is_resident=is_resident, is_viewer=is_viewer)


async def _run_app(app: "KimiTuiApp", *, mouse: bool) -> list[int]:
    """Run the app until it exits. Return the signals received."""
    from kimi_tui.tui.terminal.suspend import is_suspended

    signals: list[int] = []

    def stop(number: int) -> None:
        if number == signal.SIGINT and is_suspended(app):
            return  # meant for the program in the foreground
        signals.append(number)
        if number == signal.SIGHUP:
            app.handle_terminal_loss()
        else:
            app.action_leave()

    with stopping_signals(stop):
        await app.run_async(mouse=mouse)
    return signals
