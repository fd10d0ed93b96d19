"""Approvals over the Wire: yolo, then rules and grants, then the user (`docs/approvals-and-rules.md`)."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Protocol, assert_never

from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.identity import new_id
from kimi_tui.base.value import value
from kimi_tui.soul.behaviour import Behaviour
from kimi_tui.tools.approval import CommandSubject, PathSubject, Subject, ToolRejected
from kimi_tui.tools.permission.danger import danger_of
from kimi_tui.tools.permission.rule import Rule
from kimi_tui.tools.permission.rulebook import RuleBook, Verdict
from kimi_tui.tools.tool import RunningCall
from kimi_tui.wire.channel import Wire
from kimi_tui.wire.display import DisplayBlock
from kimi_tui.wire.events import ApprovalResponse, Notification
from kimi_tui.wire.requests import ApprovalRequest, Proposal

_DENIED = "a rule of the user's permissions denies it"


class GrantKeeper(Protocol):
    """Where grants go that outlive the request. Its methods raise KimiTuiError when that can't be done."""

    async def keep_for_session(self, rules: tuple[Rule, ...]) -> None:
        """Remember `rules` as long as the session lives."""
        ...

    async def keep_always(self, rules: tuple[Rule, ...]) -> None:
        """Write `rules` where later sessions read them."""
        ...


@value
class ApprovalSource:
    """Who asks: the main agent when all is None."""

    agent_id: str | None = None
    subagent_type: str | None = None
    description: str | None = None
    kind: str | None = None
    """`background_agent` when it works behind the conversation, else `foreground_turn`."""
    id: str | None = None
    """Of the background task, or of the call that waits for the agent."""


class WireApproval:
    """Consent for the tools of a session's agents: what is granted to one is granted to all."""

    def __init__(
        self,
        *,
        wire: Wire,
        behaviour: Behaviour,
        rules: RuleBook,
        keeper: GrantKeeper,
    ) -> None:
        self._wire = wire
        self._behaviour = behaviour
        self._rules = rules
        self._keeper = keeper
        self._open: dict[str, Subject] = {}

    def may_read(self, path: Path) -> bool:
        """Whether no rule forbids reading the file at `path`, or wants to be asked."""
        return self._rules.verdict(PathSubject(path, writes=False)) in ("allow", None)

    async def request(
        self,
        call: RunningCall,
        *,
        action: str,
        description: str,
        subject: Subject,
        display: tuple[DisplayBlock, ...] = (),
        proposal: Proposal | None = None,
        source: ApprovalSource = ApprovalSource(),
    ) -> str | None:
        """Return when `subject` may be acted on, exactly as described. Raises ToolRejected otherwise.

        The answer is the text to act on in place of `proposal`, None when the user left that as it was.
        """
        verdict = self._rules.verdict(subject)
        if verdict == "deny":
            raise ToolRejected(_DENIED, ends_turn=False)
        if self._is_granted(verdict, subject):
            return None
        grant = self._rules.grant_for(subject)
        request = ApprovalRequest(
            id=new_id(),
            tool_call_id=call.id,
            sender=call.tool_name,
            action=action,
            description=description,
            display=display,
            source_kind=source.kind,
            source_id=source.id,
            agent_id=source.agent_id,
            subagent_type=source.subagent_type,
            source_description=source.description,
            rule=" and ".join(str(rule) for rule in grant) or None,
            danger=self._danger_of(subject),
            proposal=proposal,
        )
        answer = await self._ask(request, subject)
        if answer.edited is not None and answer.response != "reject":
            return self._checked(answer.edited, subject, proposal)
        match answer.response:
            case "approve":
                pass
            case "approve_for_session":
                await self._grant(grant, self._keeper.keep_for_session)
            case "approve_always":
                await self._grant(grant, self._keeper.keep_always)
            case "reject":
                raise ToolRejected(answer.feedback)
            case _:
                assert_never(answer.response)
        return None

    def _checked(self, edited: str, subject: Subject, proposal: Proposal | None) -> str:
        """What the user made of a proposal: allowed this once, since they wrote it; rules that deny hold.

        Raises ToolRejected.
        """
        if proposal is None:
            raise ToolRejected("the answer changes what can't be changed; nothing was done", ends_turn=False)
        if isinstance(subject, CommandSubject) and self._rules.verdict(CommandSubject(edited)) == "deny":
            raise ToolRejected(_DENIED, ends_turn=False)
        return edited

    def answer_what_is_granted(self) -> None:
        """Answer the open requests that yolo or a grant covers by now."""
        for request_id, subject in list(self._open.items()):
            if self._is_granted(self._rules.verdict(subject), subject):
                self._wire.answer(ApprovalResponse(request_id, "approve"))

    def _is_granted(self, verdict: Verdict | None, subject: Subject) -> bool:
        """Whether nobody needs to be asked: by a rule, or by a mode where no rule insists on asking."""
        if verdict == "deny":
            return False
        if verdict == "allow" or (isinstance(subject, PathSubject) and self._is_plan(subject)):
            return True
        return verdict is None and (self._behaviour.yolo or self._is_accepted_edit(subject))

    def _is_plan(self, subject: PathSubject) -> bool:
        return self._behaviour.plan_mode.may_write(subject.path)

    def _is_accepted_edit(self, subject: Subject) -> bool:
        if not self._behaviour.accept_edits or not isinstance(subject, PathSubject) or not subject.writes:
            return False
        return self._danger_of(subject) is None

    def _danger_of(self, subject: Subject) -> str | None:
        return danger_of(subject, work_dir=self._rules.work_dir, additional_dirs=self._rules.additional_dirs)

    async def _ask(self, request: ApprovalRequest, subject: Subject) -> ApprovalResponse:
        self._open[request.id] = subject
        try:
            answer = await self._wire.ask(request)
        finally:
            del self._open[request.id]
        if not isinstance(answer, ApprovalResponse):
            raise TypeError(f"an approval was answered with {type(answer).__name__}")
        self._wire.send(answer)
        return answer

    async def _grant(
        self, rules: tuple[Rule, ...], keep: Callable[[tuple[Rule, ...]], Awaitable[None]]
    ) -> None:
        if rules:
            self._rules = self._rules.with_allowed(*rules)
            self.answer_what_is_granted()
            try:
                await keep(rules)
            except KimiTuiError as error:
                self._wire.send(_not_kept(error))


def _not_kept(error: KimiTuiError) -> Notification:
    return Notification(
        id=new_id(),
        category="approval",
        type="grant_not_kept",
        source_kind="engine",
        source_id="",
        title="What you allowed holds only until kimi-tui ends",
        body=str(error),
        severity="warning",
    )
