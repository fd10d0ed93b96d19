"""Approval over the Wire: by rules and grants, then yolo mode, then the user (`docs/permissions.md`)."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol, assert_never

from kimi_tui.base.errors import ConfigError, KimiTuiError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.ids import new_id
from kimi_tui.base.message_text import msg
from kimi_tui.permission.assessment import Assessment
from kimi_tui.permission.effect_review import (
    EffectReview,
    PathChange,
    find_outside_path,
    find_outside_path_in_text,
    find_tracked_credentials,
    needs_consent_to_read,
    propose_effect_grant,
    review_changes,
)
from kimi_tui.permission.rule import Rule, format_rules, parse_rules
from kimi_tui.permission.rule_set import RuleSet, Verdict
from kimi_tui.permission.sensitive_reads import SensitiveReads
from kimi_tui.permission.subject import CommandSubject, PathSubject, SearchSubject, Subject
from kimi_tui.soul.runtime_settings import RuntimeSettings
from kimi_tui.tools.approval import CommandMode, EffectsAnswer, ToolRejected, TrialSummary
from kimi_tui.tools.tool import CallContext
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.display_blocks import DisplayBlock, ShellBlock
from kimi_tui.wire.events import ApprovalResponse, Notification
from kimi_tui.wire.requests import ApprovalRequest, Proposal

_DENIED = "denied by the user's permission rules"


class GrantStore(Protocol):
    """Stores grants and sensitive reads. The methods for grants raise KimiTuiError if they can't save."""

    async def save_sensitive_reads(self, paths: tuple[str, ...]) -> None:
        """Save the paths of secrets, and of files outside of the session's directories, that were read."""
        ...

    async def save_for_session(self, rules: tuple[Rule, ...]) -> None:
        """Save `rules` for the session."""
        ...

    async def save_always(self, rules: tuple[Rule, ...]) -> None:
        """Save `rules` for later sessions."""
        ...


@frozen
class ApprovalSource:
    """The agent that requests approval; all fields are None for the main agent."""

    agent_id: str | None = None
    subagent_type: str | None = None
    description: str | None = None
    kind: str | None = None
    """`background_agent` for an agent in a background task, otherwise `foreground_turn`."""
    id: str | None = None
    """Id of the background task, or of the call that waits for the agent."""


class WireApproval:
    """Approval for the tools of a session's agents. A grant for one agent applies to all."""

    def __init__(
        self,
        *,
        wire: Wire,
        runtime_settings: RuntimeSettings,
        rules: RuleSet,
        grant_store: GrantStore,
        sensitive_reads: SensitiveReads,
        runs_first: bool = False,
    ) -> None:
        """With `runs_first`, commands that no rule allows run in a workspace before they need approval."""
        self._runs_first = runs_first
        self._wire = wire
        self._runtime_settings = runtime_settings
        self._rules = rules
        self._grant_store = grant_store
        self._sensitive_reads = sensitive_reads
        self._has_reported_trials = False
        self._assessed: Assessment | None = None
        self._open_requests: dict[str, Assessment | EffectReview] = {}

    @property
    def rules(self) -> RuleSet:
        """The rules in effect."""
        return self._rules

    def use_rules(self, rules: RuleSet) -> None:
        """Apply `rules`, also to open requests."""
        self._rules = rules
        self.resolve_granted_requests()

    def may_read(self, path: Path, *, within: Path | None = None) -> bool:
        """Return whether the file or directory at `path` may be read without approval.

        This is the case if a rule allows the path, or if the path is in `within` or in the session's
        directories. A rule that denies it or requires approval takes precedence.
        """
        return self._rules.may_read(path, within=within)

    def add_dir(self, folder: Path) -> None:
        """Treat `folder` as one of the session's directories."""
        self._rules = self._rules.with_dir(folder)

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
        source: ApprovalSource = ApprovalSource(),
    ) -> str | None:
        """Wait until `subject` is approved. Return the user's edit of `proposal`; None if it wasn't edited.

        Raises: ToolRejected.
        """
        assessment = self._assess(subject)
        if (leak := self._sensitive_reads.danger_of(subject)) is not None:
            assessment = replace(assessment, danger=assessment.danger or leak)
        verdict = self._rules.verdict(assessment)
        if verdict == "deny":
            raise ToolRejected(_DENIED, ends_turn=False)
        if self._is_granted(verdict, assessment):
            await self._record_reads(subject)
            return None
        grant = self._rules.propose_grant(assessment)
        request = ApprovalRequest(
            id=new_id(),
            tool_call_id=call.id,
            sender=call.tool_name,
            action=action,
            description=description,
            display=tuple(_mark_danger(block, assessment.danger or "") for block in display),
            source_kind=source.kind,
            source_id=source.id,
            agent_id=source.agent_id,
            subagent_type=source.subagent_type,
            source_description=source.description,
            rule=format_rules(grant) or None,
            danger=assessment.danger,
            reason=reason or None,
            proposal=proposal,
        )
        response = await self._ask(request, assessment)
        if response.edited is not None and response.response != "reject":
            edited = self._check_edit(response.edited, subject, proposal)
            await self._record_reads(CommandSubject.parse(edited))
            return edited
        match response.response:
            case "approve" | "run_directly":
                pass
            case "approve_for_session":
                await self._grant(response, grant, self._grant_store.save_for_session)
            case "approve_always":
                await self._grant(response, grant, self._grant_store.save_always)
            case "reject":
                raise ToolRejected(response.feedback)
            case _:
                assert_never(response.response)
        await self._record_reads(subject)
        return None

    def report_unavailable_trials(self, problem: str) -> None:
        """Implement `Approval.report_unavailable_trials`."""
        if not self._has_reported_trials:
            self._has_reported_trials = True
            self._wire.send(_no_trials_notice(problem))

    def command_mode(self, subject: CommandSubject) -> CommandMode:
        """Implement `Approval.command_mode`."""
        assessment = self._assess(subject)
        verdict = self._rules.verdict(assessment)
        if verdict in ("deny", "ask") or not self._runs_first:
            return "ask"
        if self._runtime_settings.plan_mode.is_on:
            return "discard"
        return "ask" if self._is_granted(verdict, assessment) else "trial"

    def is_allowed(self, subject: Subject) -> bool:
        """Implement `Approval.is_allowed`."""
        assessment = self._rules.assess(subject)
        return self._is_granted(self._rules.verdict(assessment), assessment)

    def find_outside_path(self, subject: CommandSubject) -> str:
        """Implement `Approval.find_outside_path`."""
        return find_outside_path(self._rules, subject.line)

    def find_outside_path_in_text(self, text: str) -> str:
        """Implement `Approval.find_outside_path_in_text`."""
        return find_outside_path_in_text(self._rules, text)

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
        rules = self._rules
        review = review_changes(
            rules, changes, accepts_edits=self._runtime_settings.accept_edits, created=created
        )
        read = (path for path in opened if needs_consent_to_read(rules, path))
        secrets = tuple(dict.fromkeys((*read, *find_tracked_credentials(rules, subject.line))))
        return replace(review, secrets=secrets, n_network_attempts=n_network_attempts)

    async def request_effects(
        self,
        call: CallContext,
        *,
        subject: CommandSubject,
        review: EffectReview,
        summary: TrialSummary,
        source: ApprovalSource = ApprovalSource(),
    ) -> EffectsAnswer:
        """Implement `Approval.request_effects`."""
        assessment = self._assess(subject)
        danger = review.danger or assessment.danger
        grant = await asyncio.to_thread(propose_effect_grant, self._rules, review)
        request = ApprovalRequest(
            id=new_id(),
            tool_call_id=call.id,
            sender=call.tool_name,
            action="run command",
            description=summary.description,
            display=tuple(_mark_danger(block, danger or "") for block in summary.display),
            source_kind=source.kind,
            source_id=source.id,
            agent_id=source.agent_id,
            subagent_type=source.subagent_type,
            source_description=source.description,
            rule=format_rules(grant) or None,
            danger=danger,
            effects=summary.effects,
            proposal=Proposal(subject.line.text, "command.sh"),
        )
        response = await self._ask(request, review)
        if response.edited is not None and response.response != "reject":
            edited = self._check_edit(response.edited, subject, request.proposal)
            await self._record_reads(CommandSubject.parse(edited))
            return EffectsAnswer("run_directly", edited)
        match response.response:
            case "approve":
                pass
            case "approve_for_session":
                await self._grant(response, grant, self._grant_store.save_for_session)
            case "approve_always":
                await self._grant(response, grant, self._grant_store.save_always)
            case "run_directly":
                await self._record_reads(subject)
                return EffectsAnswer("run_directly")
            case "reject":
                raise ToolRejected(response.feedback)
            case _:
                assert_never(response.response)
        await self._record_reads(subject, review.secrets)
        return EffectsAnswer("commit")

    async def _record_reads(self, subject: Subject, secrets: tuple[Path, ...] = ()) -> None:
        """Record which secrets, and files outside of the session's directories, the model will see."""
        if self._sensitive_reads.add((*self._rules.find_sensitive_reads(subject), *secrets)):
            await self._grant_store.save_sensitive_reads(self._sensitive_reads.paths)

    def _check_edit(self, edited: str, subject: Subject, proposal: Proposal | None) -> str:
        """Return the edited proposal. It needs no further approval, because the user wrote it.

        Raises: ToolRejected if the request has no proposal, or if a rule denies the edited command.
        """
        if proposal is None:
            raise ToolRejected("this request can't be edited; nothing was done", ends_turn=False)
        if isinstance(subject, CommandSubject) and self._verdict(CommandSubject.parse(edited)) == "deny":
            raise ToolRejected(_DENIED, ends_turn=False)
        return edited

    def resolve_granted_requests(self) -> None:
        """Approve the open requests that yolo mode or a new grant covers."""
        for request_id, question in list(self._open_requests.items()):
            if self._needs_no_answer(question):
                self._wire.answer(ApprovalResponse(request_id, "approve"))

    def _needs_no_answer(self, question: Assessment | EffectReview) -> bool:
        if isinstance(question, Assessment):
            return self._is_granted(self._rules.verdict(question), question)
        if self._runtime_settings.yolo:
            return True
        if question.secrets or question.n_network_attempts:
            return False
        subjects = (PathSubject(change.path) for change in question.uncovered)
        return all(self._verdict(subject) == "allow" for subject in subjects)

    def _assess(self, subject: Subject) -> Assessment:
        """Return the assessment of `subject`. The latest is cached, for commands with several requests."""
        if self._assessed is None or self._assessed.subject is not subject:
            self._assessed = self._rules.assess(subject)
        return self._assessed

    def _verdict(self, subject: Subject) -> Verdict | None:
        return self._rules.verdict(self._rules.assess(subject))

    def _is_granted(self, verdict: Verdict | None, assessment: Assessment) -> bool:
        """Return whether a rule allows the subject, or no rule applies and the permission mode allows it."""
        if verdict == "deny":
            return False
        subject = assessment.subject
        if verdict == "allow" or (isinstance(subject, PathSubject) and self._is_plan(subject)):
            return True
        is_harmless_search = isinstance(subject, SearchSubject) and assessment.danger is None
        return verdict is None and (
            self._runtime_settings.approves_all or is_harmless_search or self._is_accepted_edit(assessment)
        )

    def _is_plan(self, subject: PathSubject) -> bool:
        return self._runtime_settings.plan_mode.may_write(subject.path)

    def _is_accepted_edit(self, assessment: Assessment) -> bool:
        if not self._runtime_settings.accept_edits or assessment.danger is not None:
            return False
        return isinstance(assessment.subject, PathSubject) and assessment.subject.writes

    async def _ask(self, request: ApprovalRequest, question: Assessment | EffectReview) -> ApprovalResponse:
        self._open_requests[request.id] = question
        try:
            response = await self._wire.ask(request)
        finally:
            del self._open_requests[request.id]
        if not isinstance(response, ApprovalResponse):
            raise TypeError(f"an approval was answered with {type(response).__name__}")
        self._wire.send(response)
        return response

    async def _grant(
        self,
        response: ApprovalResponse,
        proposed: tuple[Rule, ...],
        save: Callable[[tuple[Rule, ...]], Awaitable[None]],
    ) -> None:
        """Apply and save the proposed rules, or the user's edited version."""
        try:
            rules = _chosen_rules(response, proposed)
            changed = self._rules.with_allowed(*rules)
        except ConfigError as error:
            self._wire.send(_grant_notice(error, "Rule not added, allowed once"))
            return
        if rules:
            self.use_rules(changed)
            try:
                await save(rules)
            except KimiTuiError as error:
                self._wire.send(_grant_notice(error, "Permission not saved, applies until kimi-tui exits"))


def _chosen_rules(response: ApprovalResponse, proposed: tuple[Rule, ...]) -> tuple[Rule, ...]:
    """Return the rules to add. Raises ConfigError if the user's version can't be parsed."""
    if not proposed or response.rule is None:
        return proposed
    return parse_rules(response.rule, max_rules=len(proposed))


def _mark_danger(block: DisplayBlock, danger: str) -> DisplayBlock:
    return replace(block, danger=danger) if isinstance(block, ShellBlock) else block


def _grant_notice(error: KimiTuiError, title: str) -> Notification:
    return Notification(
        id=new_id(),
        category="approval",
        type="grant_not_kept",
        source_kind="engine",
        source_id="",
        title=title,
        body=str(error),
        severity="warning",
    )


def _no_trials_notice(problem: str) -> Notification:
    return Notification(
        id=new_id(),
        category="approval",
        type="asks_first",
        source_kind="engine",
        source_id="",
        title=msg("Commands need approval before they run"),
        body=msg("They can't run in a workspace first: {problem}.", problem=problem.rstrip(".")),
        severity="info",
    )
