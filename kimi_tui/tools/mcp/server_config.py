"""An MCP server as a config describes it."""

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Literal

from kimi_tui.base.value import value

CONNECT_S = 60.0
"""How long a server may take to start and introduce itself: a package may have to be fetched first."""
SILENCE_S = 300.0
"""How long a call may go on without a result or a word of progress."""


@value(kw_only=True)
class Patience:
    """How long a server is waited for, in seconds."""

    connect_s: float = CONNECT_S
    silence_s: float = SILENCE_S


@value(kw_only=True)
class StdioServer:
    """A program that is started, and spoken with over its standard streams."""

    name: str
    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    """Added to what a server sees of the program's own environment."""
    cwd: Path | None = None
    """None for the work dir."""
    patience: Patience = Patience()

    @property
    def transport(self) -> Literal["stdio"]:
        """How it is spoken with."""
        return "stdio"

    @property
    def target(self) -> str:
        """What it is, in a line."""
        return " ".join((self.command, *self.args))

    @property
    def secrets(self) -> tuple[str, ...]:
        """What of its description must not be shown."""
        return tuple(self.env.values())

    @property
    def named(self) -> Mapping[str, str]:
        """What it is given by names, which tell what is a secret anywhere else, too."""
        return self.env


@value(kw_only=True)
class RemoteServer:
    """A server at an address."""

    name: str
    url: str
    transport: Literal["http", "sse"] = "http"
    headers: Mapping[str, str] = field(default_factory=dict)
    oauth: bool = False
    """Whether it wants a token that the user gets for it in a browser."""
    patience: Patience = Patience()

    @property
    def target(self) -> str:
        """What it is, in a line."""
        return self.url

    @property
    def secrets(self) -> tuple[str, ...]:
        """What of its description must not be shown."""
        return tuple(self.headers.values())

    @property
    def named(self) -> Mapping[str, str]:
        """What it is given by names, which tell what is a secret anywhere else, too."""
        return self.headers


ServerConfig = StdioServer | RemoteServer


@value
class UnusableServer:
    """An entry of a config that can't be used, or is not to be."""

    name: str
    problem: str
    """What is wrong and what to do; empty for one that is switched off."""


ServerEntry = ServerConfig | UnusableServer
