"""Approval for the tools of a sub-agent: the session's approval, with the sub-agent as the source."""

from collections.abc import Collection, Sequence
from pathlib import Path

from kimi_tui.permission.effect_review import EffectReview, PathChange
from kimi_tui.permission.subject import CommandSubject, Subject
from kimi_tui.soul.wire_approval import ApprovalSource, WireApproval
from kimi_tui.tools.approval import CommandMode, EffectsAnswer, TrialSummary
from kimi_tui.tools.tool import CallContext
from kimi_tui.wire.display_blocks import DisplayBlock
from kimi_tui.wire.requests import Proposal


class SubagentApproval:
    """Implements `tools.Approval` for one sub-agent, with the rules, grants and yolo mode of the session."""

    def __init__(self, approval: WireApproval, source: ApprovalSource) -> None:
        self._approval = approval
        self._source = source

    def may_read(self, path: Path, *, within: Path | None = None) -> bool:
        """Implement `Approval.may_read`."""
        return self._approval.may_read(path, within=within)

    async def request(
        self,
        call: CallContext,
        *,
        action: str,
        description: str,
        subject: Subject,
        display: tuple[DisplayBlock, ...] = (),
        proposal: Proposal | None = None,
        reason: str = "",
    ) -> str | None:
        """Implement `Approval.request`."""
        return await self._approval.request(
            call,
            action=action,
            description=description,
            subject=subject,
            display=display,
            proposal=proposal,
            reason=reason,
            source=self._source,
        )

    def report_unavailable_trials(self, problem: str) -> None:
        """Implement `Approval.report_unavailable_trials`."""
        self._approval.report_unavailable_trials(problem)

    def command_mode(self, subject: CommandSubject) -> CommandMode:
        """Implement `Approval.command_mode`."""
        return self._approval.command_mode(subject)

    def is_allowed(self, subject: Subject) -> bool:
        """Implement `Approval.is_allowed`."""
        return self._approval.is_allowed(subject)

    def find_outside_path(self, subject: CommandSubject) -> str:
        """Implement `Approval.find_outside_path`."""
        return self._approval.find_outside_path(subject)

    def find_outside_path_in_text(self, text: str) -> str:
        """Implement `Approval.find_outside_path_in_text`."""
        return self._approval.find_outside_path_in_text(text)

    def review_effects(
        self,
        subject: CommandSubject,
        changes: Sequence[PathChange],
        *,
        created: Collection[Path],
        opened: Sequence[Path],
        n_network_attempts: int,
    ) -> EffectReview:
        """Implement `Approval.review_effects`."""
        return self._approval.review_effects(
            subject, changes, created=created, opened=opened, n_network_attempts=n_network_attempts
        )

    async def request_effects(
        self, call: CallContext, *, subject: CommandSubject, review: EffectReview, summary: TrialSummary
    ) -> EffectsAnswer:
        """Implement `Approval.request_effects`."""
        return await self._approval.request_effects(
            call, subject=subject, review=review, summary=summary, source=self._source
        )
