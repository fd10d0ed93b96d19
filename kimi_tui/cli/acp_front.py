"""The ACP server in front of one engine a session, on the process's own pipes and signals."""

import asyncio
import io
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from kimi_tui import __version__
from kimi_tui.acp.login import Login
from kimi_tui.acp.running import run_acp_server
from kimi_tui.acp.sessions import SessionWish
from kimi_tui.base.errors import KimiTuiError, ModelNotSet
from kimi_tui.base.interruption import Interruption
from kimi_tui.base.raw_input import RawInput
from kimi_tui.cli.combinations import check_combination
from kimi_tui.cli.command_line import CommandLine
from kimi_tui.cli.opening import Opening, read_config_for, start_log
from kimi_tui.cli.pipes import own_pipes
from kimi_tui.cli.places import Places, current_dir, usable_share_dir
from kimi_tui.cli.signals import stopping_signals
from kimi_tui.config.loading import settings_of
from kimi_tui.engine.options import EngineOptions
from kimi_tui.history.session import SessionStore
from kimi_tui.wire.channel import Wire


def run_acp_front(line: CommandLine) -> int:
    """Serve and return the exit code. Raises KimiTuiError."""
    check_combination(line)
    door = _Door(line, usable_share_dir())
    start_log(line, door.share_dir)
    with own_pipes("acp") as (stdin, stdout):
        return asyncio.run(_run(door, stdin, stdout))


async def _run(door: "_Door", stdin: RawInput, stdout: io.FileIO) -> int:
    interruption = Interruption()
    with stopping_signals(interruption.stop):
        return await run_acp_server(
            version=__version__,
            serve=door.serve,
            store=SessionStore(door.share_dir),
            login=Login(door.has_model),
            stdin=stdin,
            stdout=stdout,
            interruption=interruption,
        )


@dataclass(frozen=True, slots=True)
class _Door:
    """From what a client asks for to an engine, with the options that the program was started with."""

    line: CommandLine
    share_dir: Path

    async def serve(self, wire: Wire, wish: SessionWish) -> None:
        """Open an engine behind `wire` and serve it to its end. Raises KimiTuiError."""
        opening = self._opening(wish)
        if not self._finds_model(opening):
            raise ModelNotSet(
                "No model is configured.",
                hint="Use `kimi-tui login`, or set KIMI_API_KEY, OPENAI_API_KEY or ANTHROPIC_API_KEY.",
            )
        if opening.config.untrusted is not None:
            sys.stderr.write(
                f"Ignored {opening.config.untrusted.name}, since you haven't said that you trust it."
                f" Start kimi-tui in {wish.cwd} once in a terminal to look at it.\n"
            )
        await opening.serve(wire, adapt=lambda options: _at_the_client(options, wish))

    def has_model(self) -> bool:
        """Whether a session would find a model. A config that can't be read is no matter of logging in."""
        try:
            return self._finds_model(self._opening(SessionWish(cwd=current_dir())))
        except KimiTuiError:
            return True

    def _finds_model(self, opening: Opening) -> bool:
        return self.line.demo or bool(settings_of(opening.config).models)

    def _opening(self, wish: SessionWish) -> Opening:
        line = replace(self.line, session=wish.session_id, fork=wish.fork)
        places = Places(
            share_dir=self.share_dir,
            work_dir=wish.cwd,
            additional_dirs=(*(path.expanduser().resolve() for path in line.add_dir), *wish.additional_dirs),
        )
        return Opening(line=line, places=places, config=read_config_for(line, places), interactive=True)


def _at_the_client(options: EngineOptions, wish: SessionWish) -> EngineOptions:
    """`options` with what the client brings along."""
    return replace(
        options,
        editor=wish.editor,
        terminals=wish.terminals,
        mcp=replace(options.mcp, servers=wish.mcp_servers),
    )
