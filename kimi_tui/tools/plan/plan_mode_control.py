"""Interface to the session for the plan mode tools."""

from pathlib import Path
from typing import Protocol


class PlanModeControl(Protocol):
    """Turns plan mode on and off, and stores the plan."""

    @property
    def is_on(self) -> bool:
        """Whether plan mode is on."""
        ...

    @property
    def file(self) -> Path:
        """Path of the plan file."""
        ...

    @property
    def approves_all(self) -> bool:
        """Whether everything is approved without asking (yolo mode)."""
        ...

    async def set_plan_mode(self, enabled: bool) -> None:
        """Turn plan mode on or off."""
        ...

    async def set_accept_edits(self, enabled: bool) -> None:
        """Set whether harmless edits in the working directory are allowed without approval."""
        ...

    async def read(self) -> str:
        """Return the plan; empty if none has been written. Raises FileProblem."""
        ...

    async def write(self, plan: str) -> None:
        """Replace the plan. Raises FileProblem."""
        ...

    async def show(self) -> None:
        """Show the plan to the user. Raises FileProblem."""
        ...
