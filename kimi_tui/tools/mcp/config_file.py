"""MCP configs: `{"mcpServers": {NAME: {...}}}`, as other programs write them too.

=============================  ====================================================================
`command`, `args`, `env`       a program to start; `cwd` from the config's folder on
`url`, `headers`               a server at an address; `type` or `transport` `http` or `sse`
`auth`                         `oauth`, or a bearer token
`timeout`, `startupTimeout`    milliseconds without a word in a call, and to connect
`disabled`                     true to leave it out
`${NAME}`, `${NAME:-default}`  in any text: a variable of the environment
=============================  ====================================================================

Keys that other programs know besides are ignored.
"""

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from kimi_tui.base.errors import ConfigError
from kimi_tui.base.private_file import replace_private_file
from kimi_tui.base.terminal import plain, plain_line
from kimi_tui.config.location import line_of
from kimi_tui.config.project_mcp import SERVERS_KEY, mcp_source
from kimi_tui.config.source import Source, source_from_text
from kimi_tui.tools.mcp.server_config import (
    CONNECT_S,
    SILENCE_S,
    Patience,
    RemoteServer,
    ServerConfig,
    ServerEntry,
    StdioServer,
    UnusableServer,
)

_NAME = re.compile(r"[^\s/:*()\x00-\x1f]{1,64}")
_VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")
_TRANSPORTS = {
    "stdio": "stdio", "sse": "sse", "http": "http", "streamable-http": "http", "streamable_http": "http",
    "streamablehttp": "http",
}  # fmt: skip


class ServerForm(BaseModel):
    """A server's entry, before its variables are filled in."""

    model_config = ConfigDict(extra="ignore", populate_by_name=True)

    command: str | None = None
    args: list[str] = Field(default_factory=list)
    env: dict[str, str | int | float | bool] = Field(default_factory=dict)
    cwd: str | None = None
    url: str | None = None
    headers: dict[str, str] = Field(default_factory=dict)
    transport: str | None = Field(default=None, validation_alias=AliasChoices("type", "transport"))
    auth: str | None = None
    timeout: float | None = Field(default=None, gt=0)
    startup_timeout: float | None = Field(default=None, gt=0, alias="startupTimeout")
    disabled: bool = False


def source_of_text(text: str) -> Source:
    """The MCP config in the text of `--mcp-config`. Raises ConfigError."""
    return source_from_text(text, name="--mcp-config", syntax="json")


def source_of_entry(name: str, entry: Mapping[str, Any]) -> Source:
    """The MCP config that has this one server."""
    return Source(name, {SERVERS_KEY: {name: dict(entry)}}, syntax="json")


def servers_in(source: Source, *, environ: Mapping[str, str] = os.environ) -> tuple[ServerEntry, ...]:
    """The servers that `source` describes; a bad entry costs itself. Raises ConfigError when there is no
    table of servers in it."""
    return tuple(_entry(source, name, value, environ) for name, value in server_table(source).items())


def server_table(source: Source) -> dict[str, Any]:
    """The table of servers, unchecked; empty when the file has none. Raises ConfigError."""
    servers = source.data.get(SERVERS_KEY, {})
    if not isinstance(servers, dict):
        raise ConfigError(
            f"{source.name}, line {line_of(source, (SERVERS_KEY,))}: {SERVERS_KEY} is no table of servers.",
            hint=f'Write it as {{"{SERVERS_KEY}": {{"NAME": {{"command": "..."}}}}}}.',
        )
    return servers


def check_name(name: str) -> None:
    """Raises ConfigError for a name that a server can't have."""
    if not _NAME.fullmatch(name) or plain(name) != name:
        raise ConfigError(
            f"“{plain_line(name)}” can't be the name of an MCP server.",
            hint="Use up to 64 letters, digits, dots, dashes and underscores.",
        )


def write_server(path: Path, name: str, entry: Mapping[str, Any] | None) -> None:
    """Set the entry `name` of the MCP config `path` (made when missing), or take it out when it is None.

    Raises ConfigError when the file can't be read or written.
    """
    data = mcp_source(path).data if path.exists() else {}
    servers = dict(server_table(Source(str(path), data)))
    if entry is None:
        servers.pop(name, None)
    else:
        servers[name] = dict(entry)
    text = json.dumps({**data, SERVERS_KEY: servers}, indent=2, ensure_ascii=False) + "\n"
    try:
        replace_private_file(path, text)
    except OSError as error:
        raise ConfigError(
            f"{path} can't be written: {error.strerror or error}.", hint="Check its owner and permissions."
        ) from error


def _entry(source: Source, name: str, value: Any, environ: Mapping[str, str]) -> ServerEntry:
    try:
        check_name(name)
        form = ServerForm.model_validate(value)
        if form.disabled:
            return UnusableServer(name, "")
        return _server(name, _filled(form, environ), source.path.parent if source.path else None)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        key = tuple(str(part) for part in problem["loc"])
        what = f"{'.'.join(key) or 'it'}: {problem['msg'][:1].lower()}{problem['msg'][1:]}"
    except ConfigError as error:
        key, what = (), str(error).rstrip(".")
    line = line_of(source, (SERVERS_KEY, name, *key))
    where = f"{source.name}, line {line}" if line else source.name
    return UnusableServer(plain_line(name)[:64], f"{where}: {plain_line(what)}.")


def _server(name: str, form: ServerForm, folder: Path | None) -> ServerConfig:
    patience = Patience(
        connect_s=CONNECT_S if form.startup_timeout is None else form.startup_timeout / 1000,
        silence_s=SILENCE_S if form.timeout is None else form.timeout / 1000,
    )
    match _transport(form):
        case "stdio":
            if not form.command:
                raise ConfigError(
                    "It has no command.", hint='Add "command", or "url" for a server elsewhere.'
                )
            return StdioServer(
                name=name,
                command=form.command,
                args=tuple(form.args),
                env={key: _as_text(value) for key, value in form.env.items()},
                cwd=(folder or Path()) / Path(form.cwd).expanduser() if form.cwd else None,
                patience=patience,
            )
        case transport:
            if not (form.url or "").startswith(("http://", "https://")):
                raise ConfigError("It has no url that begins with http:// or https://.", hint="Add one.")
            oauth = (form.auth or "").lower() == "oauth"
            bearer = {"Authorization": f"Bearer {form.auth}"} if form.auth and not oauth else {}
            return RemoteServer(
                name=name,
                url=form.url or "",
                transport=transport,
                headers={**bearer, **form.headers},
                oauth=oauth,
                patience=patience,
            )


def _transport(form: ServerForm) -> Literal["stdio", "http", "sse"]:
    """What is said, else what the other keys show."""
    if form.transport is None:
        if form.url is None:
            return "stdio"
        return "sse" if form.url.rstrip("/").endswith("/sse") else "http"
    match _TRANSPORTS.get(form.transport.lower()):
        case ("stdio" | "http" | "sse") as known:
            return known
        case _:
            raise ConfigError(f"There is no transport “{form.transport}”.", hint="Write stdio, http or sse.")


def _filled(form: ServerForm, environ: Mapping[str, str]) -> ServerForm:
    def fill(value: Any) -> Any:
        match value:
            case str():
                return _VARIABLE.sub(lambda found: _value_of(found, environ), value)
            case list():
                return [fill(item) for item in value]
            case dict():
                return {key: fill(item) for key, item in value.items()}
            case _:
                return value

    return form.model_copy(update={key: fill(value) for key, value in form.model_dump().items()})


def _value_of(found: re.Match[str], environ: Mapping[str, str]) -> str:
    name, default = found.groups()
    value = environ.get(name) or default
    if value is None:
        raise ConfigError(
            f"The variable {name} is not set.",
            hint=f"Set it before you start, or write ${{{name}:-default}}.",
        )
    return value


def _as_text(value: str | float | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
