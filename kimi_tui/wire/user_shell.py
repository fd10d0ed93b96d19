"""Shell commands of the user on the Wire."""

from kimi_tui.base.frozen import frozen


@frozen
class ShellCommandBegin:
    """A shell command of the user has started. Not in kimi-cli.

    Its output is sent as ToolOutput with this id and its end as ShellCommandEnd. Both can be sent at any
    time, also within a turn.
    """

    id: str
    command: str
    work_dir: str
    """Directory that it starts in."""
    on_terminal: bool = False
    """Whether it uses the terminal. Then its output isn't captured."""


@frozen
class ShellCommandEnd:
    """A shell command of the user has ended. Not in kimi-cli."""

    id: str
    status: int
    """Exit status; negative for the signal that ended it."""
    output: str
    """Its output, with the middle removed if it is very long."""
    work_dir: str
    """Directory in which the next command starts."""
    stopped: bool = False
    """Whether the user stopped it."""
