"""Configuration of an MCP server."""

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Literal

from kimi_tui.base.frozen import frozen

CONNECT_TIMEOUT_S = 60.0
"""Maximum time for a server to start and initialize. The server may have to download a package first."""
SILENCE_TIMEOUT_S = 300.0
"""Maximum time of a call without a result or progress."""


@frozen(kw_only=True)
class Timeouts:
    """Timeouts of a server."""

    connect_s: float = CONNECT_TIMEOUT_S
    silence_s: float = SILENCE_TIMEOUT_S


@frozen(kw_only=True)
class StdioServer:
    """A local program that communicates over its standard streams."""

    name: str
    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    """Environment variables in addition to the inherited variables."""
    cwd: Path | None = None
    """Directory to start in; None for the working directory."""
    timeouts: Timeouts = Timeouts()

    @property
    def transport(self) -> Literal["stdio"]:
        """The transport's name."""
        return "stdio"

    @property
    def target(self) -> str:
        """The command line."""
        return " ".join((self.command, *self.args))

    @property
    def secrets(self) -> tuple[str, ...]:
        """Values of the config that must not be shown."""
        return tuple(self.env.values())

    @property
    def named_values(self) -> Mapping[str, str]:
        """Environment variables by name. The name decides whether a value counts as a secret elsewhere."""
        return self.env


@frozen(kw_only=True)
class RemoteServer:
    """A server with a URL."""

    name: str
    url: str
    transport: Literal["http", "sse"] = "http"
    headers: Mapping[str, str] = field(default_factory=dict)
    oauth: bool = False
    """Whether the user must sign in with a browser."""
    scopes: tuple[str, ...] = ()
    """Scopes to request when signing in; empty for the scopes that the server suggests."""
    timeouts: Timeouts = Timeouts()

    @property
    def target(self) -> str:
        """The URL."""
        return self.url

    @property
    def secrets(self) -> tuple[str, ...]:
        """Values of the config that must not be shown."""
        return tuple(self.headers.values())

    @property
    def named_values(self) -> Mapping[str, str]:
        """Headers by name. The name decides whether a value counts as a secret elsewhere."""
        return self.headers


ServerConfig = StdioServer | RemoteServer


@frozen
class InvalidServer:
    """A config entry that is invalid or disabled."""

    name: str
    problem: str
    """What is wrong and how to fix it; empty for a disabled entry."""


ServerEntry = ServerConfig | InvalidServer
