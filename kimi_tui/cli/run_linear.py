"""Linear app on the process's terminal."""

import asyncio
import signal
import sys
from dataclasses import replace
from functools import partial

from kimi_tui.base.process_groups import kill_all_groups
from kimi_tui.cli.bootstrap import EngineSetup
from kimi_tui.config.loader import user_config_path
from kimi_tui.config.startup_settings import startup_settings
from kimi_tui.linear.app import LinearApp, LinearOptions
from kimi_tui.linear.command_context import SessionSwitch
from kimi_tui.version import __version__
from kimi_tui.wire.channel import Wire


def run_linear_mode(setup: EngineSetup) -> int:
    """Run one session after another and return the exit code. Raises KimiTuiError."""
    if sys.stdout is not None and hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")
    return asyncio.run(_run(setup))


async def _run(setup: EngineSetup) -> int:
    options = LinearOptions(
        work_dir=setup.paths.work_dir,
        data_dir=setup.paths.data_dir,
        version=__version__,
        config_file=user_config_path(setup.paths.data_dir),
        prompts=(setup.cli_options.text,) if setup.cli_options.text else (),
        notify=startup_settings(setup.config.data).ui.notify,
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
        switch = await app.run(partial(_serve, setup, wire, switch))
        if switch is None or ended:
            return 128 + ended[0] if ended else 0
        options = replace(options, prompts=app.queued_prompts)


async def _serve(setup: EngineSetup, wire: Wire, switch: SessionSwitch | None) -> None:
    if switch is None:
        await setup.serve(wire)
        return
    await setup.serve(
        wire,
        adapt=lambda options: replace(
            options,
            session_id=switch.session_id,
            continue_last=False,
            fork=switch.fork,
            read_only=switch.read_only,
        ),
    )


def _end(app: LinearApp, ended: list[int], number: int) -> None:
    if ended:
        kill_all_groups()
    ended.append(number)
    app.leave()
