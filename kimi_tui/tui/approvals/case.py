"""A request that is before the user, and what they have made of it so far."""

from dataclasses import dataclass
from typing import Literal

from kimi_tui.tui.approvals.edits import with_edit
from kimi_tui.wire.requests import ApprovalRequest


@dataclass(slots=True)
class Case:
    """One approval, from its first being shown until it is answered."""

    request: ApprovalRequest
    edited: str | None = None
    """What the user made of the proposal."""
    stage: Literal["open", "editing", "answered"] = "open"
    """While it isn't open, keys were typed ahead, and answer nothing."""

    @property
    def proposed(self) -> ApprovalRequest:
        """The request as it stands now, with what the user changed of it."""
        return self.request if self.edited is None else with_edit(self.request, self.edited)

    @property
    def is_edited(self) -> bool:
        """Whether the user changed it."""
        return self.edited is not None
