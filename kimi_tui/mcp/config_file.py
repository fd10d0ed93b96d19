"""MCP configs: `{"mcpServers": {NAME: {...}}}`, a format shared with other programs.

=============================  ====================================================================
`command`, `args`, `env`       a program to start; `cwd` is relative to the config's directory
`url`, `headers`               a remote server; `type` or `transport` is `http` or `sse`
`auth`                         `oauth`, or a bearer token
`timeout`, `startupTimeout`    milliseconds without a message during a call, and to connect
`disabled`                     true to disable the server
`${NAME}`, `${NAME:-default}`  in any value: an environment variable
=============================  ====================================================================

Other keys are ignored.
"""

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from kimi_tui.base.atomic_file import write_private_atomic
from kimi_tui.base.errors import ConfigError
from kimi_tui.base.message_text import as_message, change_text, msg
from kimi_tui.base.terminal_text import sanitize, sanitize_line
from kimi_tui.config.config_source import ConfigSource, source_from_text
from kimi_tui.config.key_location import line_of_key
from kimi_tui.config.project_mcp import SERVERS_KEY, read_mcp_source
from kimi_tui.config.vscode_servers import VSCODE_SERVERS_KEY
from kimi_tui.mcp.server_config import (
    CONNECT_TIMEOUT_S,
    SILENCE_TIMEOUT_S,
    InvalidServer,
    RemoteServer,
    ServerConfig,
    ServerEntry,
    StdioServer,
    Timeouts,
)

_NAME = re.compile(r"[^\s/:*()\x00-\x1f]{1,64}")
_VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")
_UNKNOWN_PLACEHOLDER = re.compile(
    r"\$\{(?:(?:env|input|config|command|extensionInstallFolder|workspaceFolder):[^{}]*"
    r"|workspaceFolder|workspaceFolderBasename|userHome)\}"
)
"""A placeholder of VS Code that wasn't converted."""
_TRANSPORTS = {
    "stdio": "stdio", "sse": "sse", "http": "http", "streamable-http": "http", "streamable_http": "http",
    "streamablehttp": "http",
}  # fmt: skip


class RawServerEntry(BaseModel):
    """A server's entry, before variables are expanded."""

    model_config = ConfigDict(extra="ignore", populate_by_name=True)

    command: str | None = None
    args: list[str] = Field(default_factory=list)
    env: dict[str, str | int | float | bool] = Field(default_factory=dict)
    cwd: str | None = None
    url: str | None = None
    headers: dict[str, str] = Field(default_factory=dict)
    transport: str | None = Field(default=None, validation_alias=AliasChoices("type", "transport"))
    auth: str | None = None
    scopes: list[str] = []
    timeout: float | None = Field(default=None, gt=0)
    startup_timeout: float | None = Field(default=None, gt=0, alias="startupTimeout")
    env_file: str | None = Field(default=None, alias="envFile")
    """Only VS Code reads this file. kimi-tui can't use an entry with `envFile`."""
    disabled: bool = False


def source_from_config_text(text: str) -> ConfigSource:
    """Return the MCP config in the value of `--mcp-config`. Raises ConfigError."""
    return source_from_text(text, name="--mcp-config", syntax="json")


def source_from_entry(name: str, entry: Mapping[str, Any]) -> ConfigSource:
    """Return an MCP config with a single server."""
    return ConfigSource(name, {SERVERS_KEY: {name: dict(entry)}}, syntax="json")


def parse_servers(
    source: ConfigSource, *, environ: Mapping[str, str] = os.environ
) -> tuple[ServerEntry, ...]:
    """Parse the servers in `source`. An invalid entry becomes an InvalidServer.

    Raises ConfigError if the value of `mcpServers` isn't an object.
    """
    return tuple(
        _parse_entry(source, name, value, environ) for name, value in find_server_table(source).items()
    )


def find_server_table(source: ConfigSource) -> dict[str, Any]:
    """Return the unvalidated server entries; empty without `mcpServers`. Raises ConfigError."""
    servers = source.data.get(SERVERS_KEY, {})
    if not isinstance(servers, dict):
        raise ConfigError(
            msg(
                "{file}, line {line}: {key} must be an object.",
                file=source.name,
                line=line_of_key(source, (SERVERS_KEY,)),
                key=SERVERS_KEY,
            ),
            hint=msg(
                "Write it as {example}.", example=f'{{"{SERVERS_KEY}": {{"NAME": {{"command": "..."}}}}}}'
            ),
        )
    return servers


def validate_name(name: str) -> None:
    """Raise ConfigError if `name` isn't a valid server name."""
    if not _NAME.fullmatch(name) or sanitize(name) != name:
        raise ConfigError(
            msg("“{name}” isn't a valid name for an MCP server.", name=sanitize_line(name)),
            hint="Use up to 64 letters, digits, dots, dashes and underscores.",
        )


def write_server(path: Path, name: str, entry: Mapping[str, Any] | None) -> None:
    """Set the entry `name` in the MCP config `path`, or remove it if `entry` is None.

    Creates the file if it doesn't exist. Raises ConfigError if the file can't be read or written.
    """
    data = read_mcp_source(path).data if path.exists() else {}
    servers = dict(find_server_table(ConfigSource(str(path), data)))
    if entry is None:
        servers.pop(name, None)
    else:
        servers[name] = dict(entry)
    text = json.dumps({**data, SERVERS_KEY: servers}, indent=2, ensure_ascii=False) + "\n"
    try:
        write_private_atomic(path, text)
    except OSError as error:
        raise ConfigError(
            msg("Can't write {path}: {reason}.", path=path, reason=error.strerror or error),
            hint="Check its owner and permissions.",
        ) from error


def _parse_entry(source: ConfigSource, name: str, value: Any, environ: Mapping[str, str]) -> ServerEntry:
    try:
        validate_name(name)
        entry = RawServerEntry.model_validate(value)
        if entry.disabled:
            return InvalidServer(name, "")
        return _build_server(
            name, _expand_variables(entry, environ), source.path.parent if source.path else None
        )
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        key = tuple(str(part) for part in problem["loc"])
        what = f"{'.'.join(key) or 'entry'}: {problem['msg'][:1].lower()}{problem['msg'][1:]}."
    except ConfigError as error:
        key, what = (), str(error)
    line = _line_of_entry(source, (name, *key))
    where = msg("{file}, line {line}", file=source.name, line=line) if line else source.name
    message = msg(
        "{location}: {problem}", location=as_message(where), problem=change_text(what, sanitize_line)
    )
    return InvalidServer(sanitize_line(name)[:64], message)


def _line_of_entry(source: ConfigSource, key: tuple[str, ...]) -> int | None:
    tables = (SERVERS_KEY, VSCODE_SERVERS_KEY) if source.syntax == "jsonc" else (SERVERS_KEY,)
    return next(filter(None, (line_of_key(source, (table, *key)) for table in tables)), None)


def _build_server(name: str, entry: RawServerEntry, folder: Path | None) -> ServerConfig:
    if entry.env_file:
        raise ConfigError(
            "The key envFile isn't supported.", hint="Write the variables that the server needs into its env."
        )
    timeouts = Timeouts(
        connect_s=CONNECT_TIMEOUT_S if entry.startup_timeout is None else entry.startup_timeout / 1000,
        silence_s=SILENCE_TIMEOUT_S if entry.timeout is None else entry.timeout / 1000,
    )
    match _detect_transport(entry):
        case "stdio":
            if not entry.command:
                raise ConfigError(
                    "The command is missing.", hint='Add "command", or "url" for a remote server.'
                )
            return StdioServer(
                name=name,
                command=entry.command,
                args=tuple(entry.args),
                env={key: _to_text(value) for key, value in entry.env.items()},
                cwd=(folder or Path()) / Path(entry.cwd).expanduser() if entry.cwd else None,
                timeouts=timeouts,
            )
        case transport:
            if not (entry.url or "").startswith(("http://", "https://")):
                raise ConfigError(
                    "The url doesn't begin with http:// or https://.", hint="Add or correct the url."
                )
            oauth = (entry.auth or "").lower() == "oauth"
            bearer = {"Authorization": f"Bearer {entry.auth}"} if entry.auth and not oauth else {}
            return RemoteServer(
                name=name,
                url=entry.url or "",
                transport=transport,
                headers={**bearer, **entry.headers},
                oauth=oauth,
                scopes=tuple(entry.scopes),
                timeouts=timeouts,
            )


def _detect_transport(entry: RawServerEntry) -> Literal["stdio", "http", "sse"]:
    """Return the configured transport, or the transport that other keys imply. Raises ConfigError."""
    if entry.transport is None:
        if entry.url is None:
            return "stdio"
        return "sse" if entry.url.rstrip("/").endswith("/sse") else "http"
    match _TRANSPORTS.get(entry.transport.lower()):
        case ("stdio" | "http" | "sse") as known:
            return known
        case _:
            raise ConfigError(
                msg("Unknown transport “{name}”.", name=entry.transport), hint="Use stdio, http or sse."
            )


def _expand_variables(entry: RawServerEntry, environ: Mapping[str, str]) -> RawServerEntry:
    def expand(value: Any) -> Any:
        match value:
            case str():
                _check_placeholders(value)
                return _VARIABLE.sub(lambda match: _variable_value(match, environ), value)
            case list():
                return [expand(item) for item in value]
            case dict():
                return {key: expand(item) for key, item in value.items()}
            case _:
                return value

    return entry.model_copy(update={key: expand(value) for key, value in entry.model_dump().items()})


def _check_placeholders(text: str) -> None:
    if (match := _UNKNOWN_PLACEHOLDER.search(text)) is not None:
        raise ConfigError(
            msg("Only VS Code can resolve {placeholder}.", placeholder=match.group()),
            hint="Replace it with its value, or with an environment variable such as ${NAME}.",
        )


def _variable_value(match: re.Match[str], environ: Mapping[str, str]) -> str:
    name, default = match.groups()
    value = environ.get(name) or default
    if value is None:
        raise ConfigError(
            msg("The environment variable {name} isn't set.", name=name),
            hint=msg(
                "Set it before you start kimi-tui, or write {example}.", example=f"${{{name}:-default}}"
            ),
        )
    return value


def _to_text(value: str | float | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
