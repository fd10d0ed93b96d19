"""Approval for the tools of a sub-agent: the session's, requested in the sub-agent's name."""

from pathlib import Path

from kimi_tui.permission.subject import Subject
from kimi_tui.soul.wire_approval import ApprovalSource, WireApproval
from kimi_tui.tools.tool import CallContext
from kimi_tui.wire.display_blocks import DisplayBlock
from kimi_tui.wire.requests import Proposal


class SubagentApproval:
    """Implements `tools.Approval` for one sub-agent, with the rules, grants and yolo mode of the session."""

    def __init__(self, approval: WireApproval, source: ApprovalSource) -> None:
        self._approval = approval
        self._source = source

    def may_read(self, path: Path) -> bool:
        """Implement `Approval.may_read`."""
        return self._approval.may_read(path)

    async def request(
        self,
        call: CallContext,
        *,
        action: str,
        description: str,
        subject: Subject,
        display: tuple[DisplayBlock, ...] = (),
        proposal: Proposal | None = None,
    ) -> str | None:
        """Implement `Approval.request`."""
        return await self._approval.request(
            call,
            action=action,
            description=description,
            subject=subject,
            display=display,
            proposal=proposal,
            source=self._source,
        )
