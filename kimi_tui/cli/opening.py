"""From a command line to an engine behind a Wire: the same for every front end."""

import asyncio
import importlib
import logging
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kimi_tui import __version__
from kimi_tui.base.collection import begin_collection
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.value import value
from kimi_tui.cli.command_line import CommandLine
from kimi_tui.cli.debugging import is_debugging
from kimi_tui.cli.places import Places
from kimi_tui.config.loading import RawConfig, read_config, settings_of
from kimi_tui.wire.channel import Wire

if TYPE_CHECKING:
    from kimi_tui.base.logging import LogFile
    from kimi_tui.engine.engine import Engine
    from kimi_tui.engine.opened import OpenedSession
    from kimi_tui.engine.options import EngineOptions
    from kimi_tui.engine.reader import Reader

logger = logging.getLogger(__name__)


@value(kw_only=True)
class Opening:
    """All that an engine is opened with, read but not yet validated."""

    line: CommandLine
    places: Places
    config: RawConfig
    interactive: bool
    """Whether somebody is there to answer."""

    async def serve(
        self,
        wire: Wire,
        *,
        adapt: "Callable[[EngineOptions], EngineOptions]" = lambda options: options,
        show_first: bool = False,
    ) -> None:
        """Open an engine behind `wire`, with options that `adapt` has the last word on; serve it to its end.

        With `show_first` a session that is resumed is told of before the engine is there; it is the one that
        the command line names, whatever `adapt` does.

        Raises ConfigError, ModelNotSet and SessionError. The engine is imported here and in a thread: the
        app's first frame is out by now, and keys are answered meanwhile.
        """
        start_log(self.line, self.places.share_dir)
        logger.info("kimi-tui %s starts in %s", __version__, self.places.work_dir)
        opened: OpenedSession | None = None
        try:
            if show_first and self._is_resumed:
                opened = await self._shown_session(wire)
            await asyncio.to_thread(importlib.import_module, "kimi_tui.engine.build")
            from kimi_tui.engine.build import open_engine
            from kimi_tui.engine.reader import open_reader

            options = adapt(self._engine_options())
            if options.read_only:
                engine: Engine | Reader = await open_reader(wire, options)
            else:
                engine = await open_engine(wire, options, opened)
        except BaseException:
            if opened is not None:
                opened.close()
            raise
        finally:
            begin_collection()
        await engine.serve()

    @property
    def _is_resumed(self) -> bool:
        """Whether an earlier session goes on, itself."""
        line = self.line
        return bool(line.session or line.continue_last) and not (line.fork or line.read_only)

    async def _shown_session(self, wire: Wire) -> "OpenedSession":
        await asyncio.to_thread(importlib.import_module, "kimi_tui.engine.opened")
        from kimi_tui.engine.opened import WantedSession, open_session

        wanted = WantedSession(
            share_dir=self.places.share_dir,
            work_dir=self.places.work_dir,
            session_id=self.line.session or None,
            continue_last=self.line.continue_last,
        )
        opened = await open_session(wanted, glimpse=wire.send)
        await opened.show(wire.send)
        return opened

    def _engine_options(self) -> "EngineOptions":
        from kimi_tui.engine.options import EngineOptions
        from kimi_tui.tools.mcp.sources import McpWish

        line = self.line
        return EngineOptions(
            settings=settings_of(self.config),
            reread=partial(read_config_for, self.line, self.places),
            share_dir=self.places.share_dir,
            work_dir=self.places.work_dir,
            additional_dirs=self.places.additional_dirs,
            session_id=line.session or None,
            continue_last=line.continue_last,
            fork=line.fork,
            read_only=line.read_only,
            agent=line.agent,
            agent_file=line.agent_file,
            skills_dirs=self.places.skills_dirs,
            model=line.model,
            demo=line.demo,
            thinking=line.thinking,
            yolo=line.yolo,
            plan=line.plan,
            mcp=McpWish(tuple(line.mcp_config), tuple(path.expanduser() for path in line.mcp_config_file)),
            max_cost_usd=line.max_cost,
            max_time_s=line.max_time,
            interactive=self.interactive,
        )


def start_log(line: CommandLine, share_dir: Path) -> "LogFile":
    """Log to the share dir from now on, as much as the options ask for. Raises KimiTuiError."""
    from kimi_tui.base.logging import start_logging

    level = line.log_level or ("debug" if is_debugging(asked=line.debug) else "info")
    try:
        return start_logging(share_dir, level=level)
    except OSError as error:
        raise KimiTuiError(
            f"The log can't be written in {share_dir}: {error.strerror or error}.",
            hint="Set KIMI_SHARE_DIR to a folder that you may write to.",
        ) from error


def read_config_for(line: CommandLine, places: Places) -> RawConfig:
    """The config that counts for a command line. Raises ConfigError."""
    return read_config(
        share_dir=places.share_dir,
        work_dir=places.work_dir,
        config_file=line.config_file,
        config_text=line.config,
        options=_settings_with_an_option(line),
    )


def _settings_with_an_option(line: CommandLine) -> dict[str, Any]:
    limits = {
        "max_steps_per_turn": line.max_steps_per_turn,
        "max_retries_per_step": line.max_retries_per_step,
    }
    given = {name: value for name, value in limits.items() if value is not None}
    options: dict[str, Any] = {"loop_control": given} if given else {}
    if line.sandbox is not None:
        options["sandbox"] = {"enabled": line.sandbox}
    return options
