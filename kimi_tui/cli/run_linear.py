"""Linear app on the process's terminal."""

import asyncio
import signal
import sys
from dataclasses import replace
from functools import partial

from kimi_tui.base.process_groups import kill_all_groups
from kimi_tui.cli.bootstrap import EngineSetup
from kimi_tui.cli.running_sessions import RunningSessions
from kimi_tui.cli.serve_here_or_resident import serve_here_or_resident
from kimi_tui.config.loader import user_config_path
from kimi_tui.config.startup_settings import startup_settings
from kimi_tui.linear.app import LinearApp, LinearOptions
from kimi_tui.linear.command_context import SessionSwitch
from kimi_tui.version import __version__
from kimi_tui.wire.channel import Wire


def run_linear_mode(setup: EngineSetup, *, is_resident: bool, is_viewer: bool = False) -> int:
    """Run one session after another and return the exit code. Raises KimiTuiError.

    `is_resident`: whether the resident engine runs the sessions; `is_viewer`: only watch its session.
    """
    if sys.stdout is not None and hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")
    return asyncio.run(_run(_LinearSessions(setup, is_resident=is_resident, is_viewer=is_viewer)))


async def _run(sessions: "_LinearSessions") -> int:
    setup = sessions.setup
    options = LinearOptions(
        work_dir=setup.paths.work_dir,
        data_dir=setup.paths.data_dir,
        version=__version__,
        config_file=user_config_path(setup.paths.data_dir),
        prompts=(setup.cli_options.text,) if setup.cli_options.text else (),
        notify=startup_settings(setup.config.data).ui.notify,
        running_sessions=RunningSessions(setup.paths.data_dir),
    )
    switch: SessionSwitch | None = None
    while True:
        wire = Wire()
        app = LinearApp(wire=wire, options=options)
        ended: list[int] = []
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, app.interrupt)
        for number in (signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, partial(_end, app, ended, number))
        switch = await app.run(partial(sessions.serve, wire, switch))
        if switch is None or ended:
            return 128 + ended[0] if ended else 0
        options = replace(options, prompts=app.queued_prompts)


class _LinearSessions:
    """Serves sessions, here or in the resident engine."""

    def __init__(self, setup: EngineSetup, *, is_resident: bool, is_viewer: bool) -> None:
        self.setup = setup
        self._is_resident = is_resident
        self._is_viewer = is_viewer

    async def serve(self, wire: Wire, switch: SessionSwitch | None) -> None:
        """Serve the session that the options name, or the one that the user switched to."""
        setup = self.setup if switch is None else _with_switch(self.setup, switch)
        if setup.cli_options.read_only:
            await setup.serve(wire)
        elif self._is_resident:
            from kimi_tui.cli.resident_client import serve_resident  # imports the resident engine

            await serve_resident(setup, wire, is_viewer=self._is_viewer, restarts=not self._is_viewer)
        else:
            await serve_here_or_resident(setup, wire, is_app=False)


def _with_switch(setup: EngineSetup, switch: SessionSwitch) -> EngineSetup:
    cli_options = replace(
        setup.cli_options,
        session=switch.session_id,
        continue_last=False,
        fork=switch.fork,
        read_only=switch.read_only,
    )
    paths = replace(setup.paths, work_dir=switch.work_dir or setup.paths.work_dir)
    return replace(setup, cli_options=cli_options, paths=paths)


def _end(app: LinearApp, ended: list[int], number: int) -> None:
    if ended:
        kill_all_groups()
    ended.append(number)
    app.leave()
