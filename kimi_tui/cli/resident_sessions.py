"""Sessions of the resident engine: opened with the options of a client's command line."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from kimi_tui.base.errors import UsageError
from kimi_tui.base.json_codec import from_jsonable, to_jsonable
from kimi_tui.cli.bootstrap import EngineSetup, allow_missing_model, read_config_for
from kimi_tui.cli.options import CliOptions
from kimi_tui.cli.run_paths import RunPaths, resolve_paths
from kimi_tui.wire.channel import Wire


def to_engine_options(cli_options: CliOptions, paths: RunPaths) -> dict[str, Any]:
    """Return the options as the engine gets them, with absolute paths: it runs in another directory."""
    absolute = replace(
        cli_options,
        argument=None,
        prompt=None,
        work_dir=paths.work_dir,
        add_dir=list(paths.additional_dirs),
        skills_dir=list(paths.skills_dirs),
        agent_file=_absolute(cli_options.agent_file),
        config_file=_absolute(cli_options.config_file),
        mcp_config_file=[path.expanduser().absolute() for path in cli_options.mcp_config_file],
    )
    options: dict[str, Any] = to_jsonable(absolute)
    return options


def _absolute(path: Path | None) -> Path | None:
    return None if path is None else path.expanduser().absolute()


class ResidentSessions:
    """Opens sessions for the clients of the resident engine."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir

    def find(self, options: dict[str, Any]) -> str | None:
        """Return the id of the existing session that `options` name; None for a new one or a fork.

        Blocks. Raises KimiTuiError.
        """
        from kimi_tui.history.session import SessionStore

        cli_options = _parse(options)
        store = SessionStore(self._data_dir)
        if cli_options.fork:
            return None
        if cli_options.session:
            return store.find(cli_options.session).id
        if cli_options.continue_last:
            latest = store.latest(resolve_paths(cli_options).work_dir)
            return latest.id if latest is not None else None
        return None

    async def serve(self, wire: Wire, options: dict[str, Any]) -> None:
        """Open an engine behind `wire` and serve it until Shutdown. Raises KimiTuiError."""
        cli_options = _parse(options)
        paths = resolve_paths(cli_options)
        setup = EngineSetup(
            cli_options=cli_options, paths=paths, config=read_config_for(cli_options, paths), interactive=True
        )
        await setup.serve(wire, adapt=allow_missing_model)


def _parse(options: dict[str, Any]) -> CliOptions:
    """Return the options of a client. Raises UsageError."""
    try:
        return from_jsonable(CliOptions, options)
    except ValueError as error:
        raise UsageError(
            "The options of the client are invalid.", hint="Run `kimi-tui serve --restart`."
        ) from error
