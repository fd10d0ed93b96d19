"""Consent for the tools of a sub-agent: the session's, asked for in the sub-agent's name."""

from pathlib import Path

from kimi_tui.soul.approval import ApprovalSource, WireApproval
from kimi_tui.tools.approval import Subject
from kimi_tui.tools.tool import RunningCall
from kimi_tui.wire.display import DisplayBlock
from kimi_tui.wire.requests import Proposal


class SourcedApproval:
    """`tools.Approval` for one sub-agent. Rules, grants and yolo are those of the session."""

    def __init__(self, approval: WireApproval, source: ApprovalSource) -> None:
        self._approval = approval
        self._source = source

    def may_read(self, path: Path) -> bool:
        """`Approval.may_read`."""
        return self._approval.may_read(path)

    async def request(
        self,
        call: RunningCall,
        *,
        action: str,
        description: str,
        subject: Subject,
        display: tuple[DisplayBlock, ...] = (),
        proposal: Proposal | None = None,
    ) -> str | None:
        """`Approval.request`."""
        return await self._approval.request(
            call,
            action=action,
            description=description,
            subject=subject,
            display=display,
            proposal=proposal,
            source=self._source,
        )
