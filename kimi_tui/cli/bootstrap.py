"""Engine setup shared by all front ends."""

import asyncio
import importlib
import logging
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kimi_tui.base.errors import ConfigError, KimiTuiError, UsageError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.gc_control import resume_gc
from kimi_tui.base.message_text import msg
from kimi_tui.cli.error_report import is_debugging
from kimi_tui.cli.options import CliOptions
from kimi_tui.cli.run_paths import RunPaths
from kimi_tui.config.loader import read_config
from kimi_tui.config.raw_config import RawConfig
from kimi_tui.version import __version__
from kimi_tui.wire.channel import Wire

if TYPE_CHECKING:
    from kimi_tui.config.settings import Settings
    from kimi_tui.engine.options import EngineOptions
    from kimi_tui.engine.session.open import OpenedSession

logger = logging.getLogger(__name__)


@frozen(kw_only=True)
class EngineSetup:
    """Everything needed to open an engine, read but not yet validated."""

    cli_options: CliOptions
    paths: RunPaths
    config: RawConfig
    interactive: bool
    """Whether a user can answer requests."""
    creates_session: bool = False
    """Whether a session with the given id is created if it doesn't exist."""
    generates_title: bool = True
    """Whether the model may be asked for the session's title."""
    runs_checks: bool = True
    """Whether the configured check runs after steps."""

    async def serve(
        self,
        wire: Wire,
        *,
        adapt: "Callable[[EngineOptions], EngineOptions]" = lambda options: options,
        show_first: bool = False,
    ) -> None:
        """Open an engine behind `wire` and serve it until it ends.

        `adapt` can change the engine's options. With `show_first`, a resumed session is replayed before
        the engine is built. That session is always the one that the command line names.

        With --bundle, the session is saved at the end. Raises ConfigError, ModelNotSet, SessionError, and
        KimiTuiError if the bundle can't be written. The engine is imported here, in a thread, so
        that the app draws its first frame earlier and keeps responding to keys.
        """
        start_log(self.cli_options, self.paths.data_dir)
        logger.info("kimi-tui %s starts in %s", __version__, self.paths.work_dir)
        opened: OpenedSession | None = None
        try:
            if show_first and self._is_resumed:
                opened = await self._open_session_early(wire)
            await asyncio.to_thread(importlib.import_module, "kimi_tui.engine.build.engine")
            from kimi_tui.engine.build.engine import build_engine
            from kimi_tui.engine.session.open import open_session

            options = adapt(self._engine_options())
            if options.read_only:
                from kimi_tui.engine.read_only_engine import open_read_only

                serve = (await open_read_only(wire, options)).serve
            else:
                opened = opened or await open_session(options.session_selector)
                serve = (await build_engine(wire, options, opened)).serve
        except BaseException:
            if opened is not None:
                opened.close()
            raise
        finally:
            resume_gc()
        await serve()
        if self.cli_options.bundle is not None and opened is not None:
            from kimi_tui.engine.transfer.session_bundle import write_bundle

            target = self.cli_options.bundle.expanduser().absolute()
            session = opened.session
            await asyncio.to_thread(write_bundle, session, data_dir=self.paths.data_dir, target=target)

    @property
    def _is_resumed(self) -> bool:
        """Whether the run resumes an existing session, not a fork of it."""
        cli = self.cli_options
        return bool(cli.session or cli.continue_last) and not (cli.fork or cli.read_only)

    async def _open_session_early(self, wire: Wire) -> "OpenedSession":
        await asyncio.to_thread(importlib.import_module, "kimi_tui.engine.session.open")
        from kimi_tui.engine.session.open import SessionSelector, open_session

        selector = SessionSelector(
            data_dir=self.paths.data_dir,
            work_dir=self.paths.work_dir,
            session_id=self.cli_options.session or None,
            continue_last=self.cli_options.continue_last,
        )
        opened = await open_session(selector, on_preview=wire.send)
        await opened.send_replay(wire.send)
        return opened

    def _engine_options(self) -> "EngineOptions":
        from kimi_tui.cli.config_lint import drop_unusable_references
        from kimi_tui.config.validation import validate_settings
        from kimi_tui.engine.options import EngineOptions
        from kimi_tui.mcp.config_discovery import McpSelection

        cli = self.cli_options
        validated = validate_settings(self.config)
        settings, problems = validated.settings, validated.errors
        if self.config.is_lenient:
            settings, unusable = drop_unusable_references(settings)
            problems = (*self.config.skipped, *problems, *unusable)
        if self.creates_session:  # Kimi CLI's clients expect the question before a command runs
            permissions = settings.permissions.model_copy(update={"run_first": False})
            settings = settings.model_copy(update={"permissions": permissions})
        return EngineOptions(
            settings=_add_run_rules(settings, cli) if cli.allow or cli.deny else settings,
            settings_problems=problems if self.config.is_lenient else (),
            config_reader=partial(read_config_for, self.cli_options, self.paths),
            data_dir=self.paths.data_dir,
            work_dir=self.paths.work_dir,
            additional_dirs=self.paths.additional_dirs,
            session_id=cli.session or None,
            continue_last=cli.continue_last,
            fork=cli.fork,
            create_session=self.creates_session,
            read_only=cli.read_only,
            agent=cli.agent,
            agent_file=cli.agent_file,
            skills_dirs=self.paths.skills_dirs,
            model=cli.model,
            demo=cli.demo,
            thinking=cli.thinking_effort,
            yolo=cli.yolo,
            afk=cli.afk,
            plan=cli.plan,
            mcp=McpSelection(tuple(cli.mcp_config), tuple(path.expanduser() for path in cli.mcp_config_file)),
            max_cost_usd=cli.max_cost,
            max_time_s=cli.max_time,
            generates_title=self.generates_title,
            runs_checks=self.runs_checks,
            interactive=self.interactive,
        )


def allow_missing_model(options: "EngineOptions") -> "EngineOptions":
    """Return `options` for a front end that offers to connect a model. One requested by name must exist."""
    return replace(options, allow_no_model=options.model is None)


def _add_run_rules(settings: "Settings", cli_options: CliOptions) -> "Settings":
    """Return `settings` with the rules of --allow and --deny. Raises UsageError for an invalid one."""
    from kimi_tui.engine.build.initial_rules import check_rule

    for name, rules in (("allow", cli_options.allow), ("deny", cli_options.deny)):
        for rule in rules:
            try:
                check_rule(name, rule)
            except ConfigError as error:
                raise UsageError(
                    msg("Invalid rule in --{option}. {problem}", option=name, problem=error.what),
                    hint=error.hint,
                ) from error
    permissions = settings.permissions
    added = permissions.model_copy(
        update={
            "allow": (*permissions.allow, *cli_options.allow),
            "deny": (*permissions.deny, *cli_options.deny),
        }
    )
    return settings.model_copy(update={"permissions": added})


def start_log(cli_options: CliOptions, data_dir: Path) -> None:
    """Start logging to the data directory, at the level that the options ask for. Raises KimiTuiError."""
    level = cli_options.log_level or ("debug" if is_debugging(debug_option=cli_options.debug) else "info")
    open_log(data_dir, level=level)


def open_log(data_dir: Path, *, level: str = "info") -> None:
    """Start logging to the data directory. Raises KimiTuiError."""
    from kimi_tui.base.logging import start_logging

    try:
        start_logging(data_dir, level=level)
    except OSError as error:
        raise KimiTuiError(
            msg("Can't write the log in {path}: {reason}.", path=data_dir, reason=error.strerror or error),
            hint="Set KIMI_SHARE_DIR to a writable directory.",
        ) from error


def read_config_for(cli_options: CliOptions, paths: RunPaths) -> RawConfig:
    """Return the config in effect for a command line. Raises ConfigError, except with `--demo`."""
    return read_config(
        lenient=cli_options.demo,
        data_dir=paths.data_dir,
        work_dir=paths.work_dir,
        config_file=cli_options.config_file,
        config_text=cli_options.config,
        options=_settings_from_options(cli_options),
    )


def _settings_from_options(cli_options: CliOptions) -> dict[str, Any]:
    limits = {
        "max_steps_per_turn": cli_options.max_steps_per_turn,
        "max_retries_per_step": cli_options.max_retries_per_step,
    }
    given = {name: value for name, value in limits.items() if value is not None}
    options: dict[str, Any] = {"loop_control": given} if given else {}
    if cli_options.sandbox is not None:
        options["sandbox"] = {"enabled": cli_options.sandbox}
    return options
