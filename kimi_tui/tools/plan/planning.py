"""What the tools of plan mode need of the session."""

from pathlib import Path
from typing import Protocol


class Planning(Protocol):
    """Turns plan mode on and off, and keeps the plan."""

    @property
    def is_on(self) -> bool:
        """Whether plan mode is on."""
        ...

    @property
    def file(self) -> Path:
        """Where the plan is kept."""
        ...

    @property
    def approves_all(self) -> bool:
        """Whether the user said beforehand that nothing needs to be asked (yolo)."""
        ...

    async def set_plan_mode(self, enabled: bool) -> None:
        """Turn it on or off."""
        ...

    async def set_accept_edits(self, enabled: bool) -> None:
        """Have harmless edits in the work dir need no approval, or ask again."""
        ...

    async def read(self) -> str:
        """The plan as it stands; empty when there is none. Raises FileProblem."""
        ...

    async def write(self, plan: str) -> None:
        """Replace the plan. Raises FileProblem."""
        ...

    async def show(self) -> None:
        """Show the plan to the user. Raises FileProblem."""
        ...
