"""Subjects of permission requests: the command, path, MCP tool, task or web server that a tool acts on."""

from pathlib import Path

from kimi_tui.base.frozen import frozen
from kimi_tui.permission.bash.command_line import BashCommandLine, parse_command


@frozen
class CommandSubject:
    """A shell command, exactly as it would run."""

    line: BashCommandLine

    @classmethod
    def parse(cls, command: str) -> "CommandSubject":
        """Return the subject of `command`, parsed."""
        return cls(parse_command(command))


@frozen
class PathSubject:
    """A change of a file, or a read of a file with secrets or outside the session's bounds."""

    path: Path
    """Absolute, symlinks resolved."""
    writes: bool = True
    is_folder: bool = False
    """Whether everything in the directory `path` is read."""


@frozen
class McpSubject:
    """A call of an MCP server's tool."""

    server: str
    tool: str


@frozen
class TaskSubject:
    """Stopping a background task. No rule covers it: each request needs approval."""

    task_id: str


@frozen
class ToolSubject:
    """A call of a tool registered by the program that opened the session."""

    tool: str


@frozen
class WebSubject:
    """A request to a web server."""

    domain: str
    """Normalized, as `web_domain.normalize_domain` returns it."""


@frozen
class SearchSubject:
    """A web search."""


Subject = CommandSubject | PathSubject | McpSubject | TaskSubject | ToolSubject | WebSubject | SearchSubject
