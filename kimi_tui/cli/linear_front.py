"""The linear front in front of an engine, on the process's own terminal."""

import asyncio
import signal
import sys
from dataclasses import replace
from functools import partial

from kimi_tui import __version__
from kimi_tui.base.child_groups import end_all
from kimi_tui.cli.opening import Opening
from kimi_tui.config.appearance import appearance_in
from kimi_tui.config.loading import user_config_path
from kimi_tui.tui.linear.desk import SessionChange
from kimi_tui.tui.linear.front import LinearFront, LinearOptions
from kimi_tui.wire.channel import Wire


def run_linear_front(opening: Opening) -> int:
    """Hold one session after another and return the exit code. Raises KimiTuiError."""
    if sys.stdout is not None and hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")
    return asyncio.run(_run(opening))


async def _run(opening: Opening) -> int:
    options = LinearOptions(
        work_dir=opening.places.work_dir,
        share_dir=opening.places.share_dir,
        version=__version__,
        config_file=user_config_path(opening.places.share_dir),
        prompts=(opening.line.text,) if opening.line.text else (),
        notify=appearance_in(opening.config.data).ui.notify,
    )
    change: SessionChange | None = None
    while True:
        wire = Wire()
        front = LinearFront(wire=wire, options=options)
        ended: list[int] = []
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, front.interrupt)
        for number in (signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, partial(_end, front, ended, number))
        change = await front.run(partial(_serve, opening, wire, change))
        if change is None or ended:
            return 128 + ended[0] if ended else 0
        options = replace(options, prompts=front.typed_ahead)


async def _serve(opening: Opening, wire: Wire, change: SessionChange | None) -> None:
    if change is None:
        await opening.serve(wire)
        return
    await opening.serve(
        wire,
        adapt=lambda options: replace(
            options,
            session_id=change.session_id,
            continue_last=False,
            fork=change.fork,
            read_only=change.read_only,
        ),
    )


def _end(front: LinearFront, ended: list[int], number: int) -> None:
    if ended:
        end_all()
    ended.append(number)
    front.leave()
