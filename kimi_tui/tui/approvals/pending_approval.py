"""State of the permission request that is shown."""

from dataclasses import dataclass
from typing import Literal

from kimi_tui.frontend.apply_edit import apply_edit
from kimi_tui.wire.requests import ApprovalRequest


@dataclass(slots=True)
class PendingApproval:
    """A permission request from its first display until it is answered."""

    request: ApprovalRequest
    edited_text: str | None = None
    """The proposal as the user edited it."""
    stage: Literal["open", "editing", "answered"] = "open"
    """In stages other than "open", keys are ignored, because they were typed ahead."""

    @property
    def proposed_request(self) -> ApprovalRequest:
        """The request with the user's edits applied."""
        return self.request if self.edited_text is None else apply_edit(self.request, self.edited_text)

    @property
    def is_edited(self) -> bool:
        """Whether the user edited the proposal."""
        return self.edited_text is not None
