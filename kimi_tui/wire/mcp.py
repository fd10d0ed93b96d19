"""How the MCP servers of a session are: part of a StatusUpdate."""

from typing import Literal

from kimi_tui.base.value import value

McpServerState = Literal["pending", "connecting", "connected", "failed", "unauthorized"]


@value
class McpResource:
    """A resource that can be named in a prompt, as `@SERVER:URI`."""

    uri: str
    name: str = ""


@value
class McpServerStatus:
    """One server. What follows the tools is ours."""

    name: str
    status: McpServerState
    tools: tuple[str, ...] = ()
    """By the names that the model knows them by."""
    error: str = ""
    """Why it is not connected and what to do, or what of its offer can't be used."""
    transport: str = ""
    """stdio, http or sse; empty for an entry of a config that can't be read."""
    target: str = ""
    """The command or the address."""
    title: str = ""
    """Its own name and version."""
    prompts: tuple[str, ...] = ()
    """The slash commands that they are."""
    resources: tuple[McpResource, ...] = ()


@value
class McpStatus:
    """All servers."""

    loading: bool
    """Whether some have neither answered nor failed yet."""
    connected: int
    total: int
    tools: int
    """How many tools they bring together."""
    servers: tuple[McpServerStatus, ...] = ()
