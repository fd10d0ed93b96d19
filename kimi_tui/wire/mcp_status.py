"""Status of a session's MCP servers, part of StatusUpdate."""

from typing import Literal

from kimi_tui.base.frozen import frozen

McpServerState = Literal["pending", "connecting", "connected", "failed", "unauthorized"]


@frozen
class McpResource:
    """A resource that can be mentioned in a prompt as `@SERVER:URI`."""

    uri: str
    name: str = ""


@frozen
class McpServerStatus:
    """An MCP server. Fields after `tools` aren't in kimi-cli."""

    name: str
    status: McpServerState
    tools: tuple[str, ...] = ()
    """Tool names as the model sees them."""
    error: str = ""
    """Why the server isn't connected and what to do, or which of its features are unavailable."""
    transport: str = ""
    """`stdio`, `http` or `sse`; empty for an invalid config entry."""
    target: str = ""
    """Command or URL."""
    title: str = ""
    """The server's reported name and version."""
    prompts: tuple[str, ...] = ()
    """The server's prompts, as slash commands."""
    resources: tuple[McpResource, ...] = ()


@frozen
class McpStatus:
    """All MCP servers."""

    loading: bool
    """Whether some servers are still connecting."""
    connected: int
    total: int
    tools: int
    """Total number of tools."""
    servers: tuple[McpServerStatus, ...] = ()
