"""Options of a session, as clients send them to the resident engine."""

from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from kimi_tui.base.errors import UsageError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.json_codec import from_jsonable, to_jsonable
from kimi_tui.cli.options import CliOptions
from kimi_tui.cli.run_paths import RunPaths
from kimi_tui.mcp.server_config import ServerConfig

T = TypeVar("T")
_TRAITS = "traits"


@frozen(kw_only=True)
class ClientTraits:
    """What the engine must know about the front end that opens a session. The defaults are for the app."""

    interactive: bool = True
    """Whether a user can answer requests."""
    allows_no_model: bool = True
    """Whether the front end offers to connect a model."""
    runs_checks: bool = True
    """Whether the configured check runs after steps."""
    mcp_servers: tuple[ServerConfig, ...] = ()
    """Servers configured by an editor."""


def to_engine_options(
    cli_options: CliOptions, paths: RunPaths, traits: ClientTraits | None = None
) -> dict[str, Any]:
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
    return options if traits is None else {**options, _TRAITS: to_jsonable(traits)}


def _absolute(path: Path | None) -> Path | None:
    return None if path is None else path.expanduser().absolute()


def parse_options(options: dict[str, Any]) -> CliOptions:
    """Return the options of a client's command line. Raises UsageError."""
    return _parse(options, CliOptions)


def parse_traits(options: dict[str, Any]) -> ClientTraits:
    """Return the traits of a client. Raises UsageError."""
    return _parse(options.get(_TRAITS, {}), ClientTraits)


def _parse(options: dict[str, Any], kind: type[T]) -> T:
    """Return a part of the options of a client. Raises UsageError."""
    try:
        return from_jsonable(kind, options)
    except ValueError as error:
        raise UsageError(
            "The options of the client are invalid.", hint="Run `kimi-tui serve --restart`."
        ) from error
