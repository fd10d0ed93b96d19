"""Shell commands of the user on the Wire."""

from kimi_tui.base.frozen import frozen


@frozen
class ShellCommandBegin:
    """A shell command of the user has started. Not in kimi-cli.

    The command's output is sent as ToolOutput with this id, and its end as ShellCommandEnd. Both can be sent
    at any time, even during a turn.
    """

    id: str
    command: str
    work_dir: str
    """Directory in which the command starts."""
    on_terminal: bool = False
    """Whether the command uses the terminal. Then its output isn't captured."""


@frozen
class ShellCommandEnd:
    """A shell command of the user has ended. Not in kimi-cli."""

    id: str
    status: int
    """Exit status. If a signal ended the command, the negative signal number."""
    output: str
    """The command's output. If it is very long, the middle is removed."""
    work_dir: str
    """Directory in which the next command starts."""
    stopped: bool = False
    """Whether the user stopped the command."""
