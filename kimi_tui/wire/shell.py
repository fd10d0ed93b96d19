"""The user's own shell on the Wire: what runs there is theirs, not the model's."""

from kimi_tui.base.value import value


@value
class ShellCommandBegin:
    """Ours: a command of the user's begins. Its output comes as ToolOutput with this id, its end as
    ShellCommandEnd, at any time, also within a turn."""

    id: str
    command: str
    work_dir: str
    """Where it begins."""
    on_terminal: bool = False
    """Whether it has the terminal: then nobody sees its output but the user."""


@value
class ShellCommandEnd:
    """Ours: a command of the user's ended."""

    id: str
    status: int
    """Its exit status; negative for the signal that ended it."""
    output: str
    """What it printed; the middle is cut out of very much."""
    work_dir: str
    """Where the next one begins."""
    stopped: bool = False
    """Whether the user stopped it."""
