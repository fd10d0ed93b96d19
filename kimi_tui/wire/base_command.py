"""Base class of commands."""

from typing import ClassVar, Literal

Scheduling = Literal["immediate", "in_order", "concurrent", "plan", "revert"]
"""When the engine handles a command.

- `immediate`: when it arrives, even while a revert is running.
- `in_order`: before the next command.
- `concurrent`: in the background.
- `plan`: in the background. Reverts wait for it, and an Interrupt cancels it.
- `revert`: in the background, after the running plans. Later commands wait for the revert. An Interrupt
  cancels the revert unless it has already changed something.
"""


class BaseCommand:
    """Base class of commands. Its members aren't part of a command's JSON form."""

    __slots__ = ()

    needs_idle: ClassVar[bool] = False
    """Whether the command is refused while a turn is running. A StatusUpdate is sent after the command."""

    is_done_with_result: ClassVar[bool] = False
    """Whether a concurrent command counts as done only when it has ended, not when it has started."""

    @property
    def scheduling(self) -> Scheduling:
        """When the engine handles the command."""
        return "in_order"
